"""The machine, and what it can do at most: gpuaes-bench memory, device and kernels."""

import glob
import json
import os
import re
import shutil
import subprocess

from settings import GI, KI, size_of, words_of
from report import print_table


def lines_of(*command):
    """Of what a program prints; none where there is no such program."""
    if not shutil.which(command[0]):
        return []
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.strip().splitlines() if done.returncode == 0 else []


def text_of(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def available_memory():
    return int(re.search(r"^MemAvailable:\s+(\d+)", text_of("/proc/meminfo"), re.M).group(1)) * KI


def file_system(path):
    return (lines_of("findmnt", "-no", "FSTYPE", "-T", path) or lines_of("stat", "-f", "-c", "%T", path) or ["unknown"])[0]


def caches():
    found = []
    for index in sorted(glob.glob("/sys/devices/system/cpu/cpu0/cache/index*")):
        level, kind, size, shared = (text_of(f"{index}/{name}") for name in ("level", "type", "size", "shared_cpu_map"))
        cpus = bin(int(shared.replace(",", "") or "1", 16)).count("1")
        if size and kind != "Instruction":
            found.append(f"L{level} {words_of(size_of(size))}" + (f" for {cpus} CPUs" if cpus > 1 else ""))
    return ", ".join(found) or "caches unknown"


def describe(fixture, folders):
    """Lines on everything that the figures depend on."""
    cpu = re.search(r"^model name\s*:\s*(.*)", text_of("/proc/cpuinfo"), re.M)
    nodes = len(glob.glob("/sys/devices/system/node/node[0-9]*")) or 1
    huge = re.search(r"\[(\w+)\]", text_of("/sys/kernel/mm/transparent_hugepage/enabled"))
    locked = lines_of("sh", "-c", "ulimit -l")
    pipe = int(text_of("/proc/sys/fs/pipe-max-size") or 0)
    gpus = lines_of("nvidia-smi", "--query-gpu=name,pcie.link.gen.max,pcie.link.width.max,driver_version", "--format=csv,noheader")
    yield f"CPU      {cpu.group(1) if cpu else 'unknown'}, {fixture.cpus} usable, {nodes} NUMA node{'s' * (nodes > 1)}; {caches()}"
    yield (f"memory   {available_memory() / GI:.0f} GiB available; huge pages {huge.group(1) if huge else 'unknown'}; "
           f"ulimit -l {(locked or ['unknown'])[0]}; pipes up to {words_of(pipe)}; Linux {os.uname().release}")
    for gpu in gpus or ["none"]:
        yield f"GPU      {gpu}"
    for role, folder in folders.items():
        mounted = (lines_of("findmnt", "-no", "SOURCE", "-T", folder) or ["?"])[0]
        yield f"{role:8} {file_system(folder)} on {mounted}, {shutil.disk_usage(folder).free / GI:.0f} GiB free"


class Limits:
    """What gpuaes-bench measures, each once and only when it is asked for."""

    def __init__(self, fixture, report):
        self.fixture, self.report = fixture, report
        self.memory_rates, self.link_rates, self.devices = None, {}, []

    def rows(self, *arguments):
        """What a command of gpuaes-bench measured, as its JSON has it."""
        done = subprocess.run([self.fixture.bench, *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode != 0:
            self.report.failure(f"gpuaes-bench {' '.join(arguments)}: {done.stderr.strip()}")
        return json.loads(done.stdout or "[]")

    def memory(self):
        """GB/s of CPU lanes in memory: {(cipher, mode, KiB of a chunk): (one thread, all threads)}."""
        if self.memory_rates is None:
            found = {}
            for row in self.rows("memory", "--ciphers", "aes-256,kuznyechik"):  # one thread comes first
                found.setdefault((row["cipher"], row["mode"], row["chunk_bytes"] // KI), []).append(row["gb_per_s"])
            self.memory_rates = {key: (rates[0], rates[-1]) for key, rates in found.items()}
        return self.memory_rates

    def links(self, *size):
        """GB/s of the links: {(devices, bytes of a copy): (to, from, each way at once)}, with `devices` a name for
        one and a number for several. Fills in `devices` too."""
        found, told = {}, {}
        for row in self.rows("device", *map(str, size)):
            if row["unit"] == "GB/s":
                device = row["device"].removesuffix(" devices")
                found.setdefault((device, row["bytes"]), []).append(row["value"])
            else:
                told.setdefault(row["device"], []).append(f"{row['what']} {row['value']}")
        self.link_rates.update({key: tuple(rates) for key, rates in found.items() if len(rates) == 3})
        self.devices = [f"{device}: {', '.join(words)}" for device, words in told.items()]
        return self.link_rates

    def duplex(self, devices, size):
        """What so many devices move each way at once with copies of this size, GB/s; None if unknown."""
        if not self.fixture.gpus:
            return None
        name = "cuda:0" if devices == 1 else str(devices)
        if (name, size) not in self.link_rates:
            self.links(size)
        return self.link_rates.setdefault((name, size), (None, None, None))[2]


def run(fixture, report):
    report.heading("limits: CPU lanes in memory, on chunks that stay in each core's cache, GB/s")
    rows = [[f"{cipher} {kind}, chunks of {chunk} KiB", f"{one:.2f}", f"{every:.2f}", f"{every / fixture.cpus:.2f}"]
            for (cipher, kind, chunk), (one, every) in fixture.limits.memory().items()]
    print_table(["", "1 thread", f"{fixture.cpus} threads", "each"], rows)
    report.keep("machine", "memory", rows)
    report.heading("limits: links to the devices, GB/s each way")
    if not fixture.gpus:
        report.skip("no GPU")
        return
    rates = fixture.limits.links()
    sizes = list(dict.fromkeys(size for _, size in rates))
    rows = [[f"{name} devices" if name.isdigit() else name,
             *(" / ".join(f"{rate:.1f}" for rate in rates.get((name, size), ())) for size in sizes)]
            for name in dict.fromkeys(name for name, _ in rates)]
    print_table(["to it / from it / both at once", *(f"copies of {words_of(size)}" for size in sizes)], rows)
    for device in fixture.limits.devices:
        print(f"  {device}")
    report.keep("machine", "device", [*rows, *fixture.limits.devices])


def run_kernels(fixture, report):
    report.heading("kernels, data resident in device memory")
    if not fixture.gpus:
        report.skip("no GPU")
        return
    kernels = fixture.limits.rows("kernels", "--variants", "bitslice,ttable", "--ciphers",
                               "aes-128,aes-192,aes-256,kuznyechik", "--modes", "ctr,aead", "--sizes", "4M,1G")
    print_table(["kernel", "cipher", "mode", "a launch", "GB/s"],
                [[row["variant"], row["cipher"], row["mode"], words_of(row["bytes"]), f"{row['gb_per_s']:.0f}"]
                 for row in kernels])
    report.keep("kernels", "rows", kernels)
