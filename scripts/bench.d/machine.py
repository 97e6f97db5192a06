"""The machine and the programs, for run.csv."""

import datetime
import glob
import os
import re
import shutil
import subprocess
import sys

from units import GI, KI, size_of, words_of

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))


def lines_of(*command):
    """Lines that a program prints; none if it fails or is not installed."""
    if not shutil.which(command[0]):
        return []
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.strip().splitlines() if done.returncode == 0 else []


def first_line(*command):
    return next(iter(lines_of(*command)), "")


def text_of(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def memory(field):
    return int(re.search(rf"^{field}:\s+(\d+)", text_of("/proc/meminfo"), re.M)[1]) * KI


def file_system(path):
    return first_line("findmnt", "-no", "FSTYPE", "-T", path) or "unknown"


def storage(path):
    """The file system, and the name of the device that it is on."""
    return f"{file_system(path)} on {os.path.basename(first_line('findmnt', '-no', 'SOURCE', '-T', path)) or 'unknown'}"


def cpu():
    """The name, from lscpu, which knows ARM processors, and whether the machine is virtual."""
    found = dict(map(str.strip, line.split(":", 1)) for line in lines_of("lscpu") if ":" in line)
    name, family, model, stepping, hypervisor = (
        found.get(name, "unknown") for name in ("Model name", "CPU family", "Model", "Stepping", "Hypervisor vendor"))
    virtual = hypervisor != "unknown" or "hypervisor" in text_of("/proc/cpuinfo").split()
    return (f"{name} (family {family}, model {model}, stepping {stepping})",
            f"yes, hypervisor: {hypervisor}" if virtual else "no")


def topology():
    """Cores and threads, as the system sees them; a virtual machine can hide which CPUs share a core."""
    cores = {(text_of(f"{folder}/physical_package_id"), text_of(f"{folder}/core_id"))
             for folder in glob.glob("/sys/devices/system/cpu/cpu*/topology")}
    return f"{len(cores)} cores, {os.cpu_count()} threads"


def caches():
    found = []
    for index in sorted(glob.glob("/sys/devices/system/cpu/cpu0/cache/index*")):
        level, kind, size, shared = (text_of(f"{index}/{name}") for name in ("level", "type", "size", "shared_cpu_map"))
        cpus = bin(int(shared.replace(",", "") or "1", 16)).count("1")
        if size and kind != "Instruction":
            found.append(f"L{level} {words_of(size_of(size))}" + (f" for {cpus} CPUs" if cpus > 1 else ""))
    return ", ".join(found) or "unknown"


GPU_FIELDS = "name,driver_version,pcie.link.gen.max,pcie.link.width.max,memory.total"
FOLDERS = r" (-o|--output|--build|--work|--disk)[ =]\S+"  # which do not affect the results


def describe(fixture, arguments):
    """(name, value) for everything that the results depend on."""
    yield "date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    yield "commit", arguments.commit or first_line("git", "-C", TOP, "rev-parse", "HEAD") or "unknown"
    yield "command", re.sub(FOLDERS, "", " ".join(["scripts/bench", *sys.argv[1:]]))
    name, virtual = cpu()
    yield "CPU", name
    yield "CPUs", str(fixture.cpus)
    yield "topology", topology()
    yield "virtual machine", virtual
    flags = text_of("/proc/cpuinfo").split()
    yield "extensions", " ".join(name for name in ("aes", "avx2", "avx512f", "vaes", "gfni") if name in flags) or "unknown"
    yield "caches", caches()
    yield "memory", f"{memory('MemTotal') / GI:.0f} GiB"
    yield "Linux", os.uname().release
    for gpu in lines_of("nvidia-smi", f"--query-gpu={GPU_FIELDS}", "--format=csv,noheader") if fixture.gpus else []:
        name, driver, generation, width, size = map(str.strip, gpu.split(","))
        yield from (("GPU", name), ("driver", driver), ("link", f"PCIe {generation} x{width}"), ("GPU memory", size))
    for rival in ("openssl", "age", "rage", "gpg"):
        if version := first_line(rival, "version" if rival == "openssl" else "--version"):
            yield rival, version
    yield "data", storage(fixture.work)
    yield "disk", storage(fixture.disk)
    yield "large file", words_of(fixture.file_size)
    yield "stream", words_of(fixture.stream_size)
    if fixture.quick:
        yield "quick", "one run of each program, to try the script"
