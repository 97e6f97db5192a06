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
    return (lines_of(*command) or [""])[0]


def text_of(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def available_memory():
    return int(re.search(r"^MemAvailable:\s+(\d+)", text_of("/proc/meminfo"), re.M).group(1)) * KI


def total_memory():
    return int(re.search(r"^MemTotal:\s+(\d+)", text_of("/proc/meminfo"), re.M).group(1)) * KI


def file_system(path):
    return first_line("findmnt", "-no", "FSTYPE", "-T", path) or "unknown"


def storage(path):
    """The file system, and the name of the device that it is on."""
    return f"{file_system(path)} on {os.path.basename(first_line('findmnt', '-no', 'SOURCE', '-T', path)) or 'unknown'}"


def lscpu(*names):
    """What lscpu says, which knows the names of ARM processors."""
    found = dict(map(str.strip, line.split(":", 1)) for line in lines_of("lscpu") if ":" in line)
    return [found.get(name, "unknown") for name in names]


def cpu_name():
    return "{} (family {}, model {}, stepping {})".format(*lscpu("Model name", "CPU family", "Model", "Stepping"))


def topology():
    """Cores and threads, as the system sees them; a virtual machine can hide which CPUs share a core."""
    cores = {(text_of(f"{folder}/physical_package_id"), text_of(f"{folder}/core_id"))
             for folder in glob.glob("/sys/devices/system/cpu/cpu*/topology")}
    return f"{len(cores)} cores, {os.cpu_count()} threads"


def virtual():
    hypervisor, = lscpu("Hypervisor vendor")
    return "no" if hypervisor == "unknown" and "hypervisor" not in text_of("/proc/cpuinfo").split() else f"yes, hypervisor: {hypervisor}"


def cpu_extensions():
    flags = text_of("/proc/cpuinfo").split()
    return " ".join(name for name in ("aes", "avx2", "avx512f", "vaes", "gfni") if name in flags) or "unknown"


def caches():
    found = []
    for index in sorted(glob.glob("/sys/devices/system/cpu/cpu0/cache/index*")):
        level, kind, size, shared = (text_of(f"{index}/{name}") for name in ("level", "type", "size", "shared_cpu_map"))
        cpus = bin(int(shared.replace(",", "") or "1", 16)).count("1")
        if size and kind != "Instruction":
            found.append(f"L{level} {words_of(size_of(size))}" + (f" for {cpus} CPUs" if cpus > 1 else ""))
    return ", ".join(found) or "unknown"


def gpus():
    return lines_of("nvidia-smi", "--query-gpu=name,driver_version,pcie.link.gen.max,pcie.link.width.max,memory.total",
                    "--format=csv,noheader")


def command():
    """Without the names of folders, which do not affect the results."""
    return re.sub(r" (-o|--output|--build|--work|--disk)[ =]\S+", "", " ".join(["scripts/bench", *sys.argv[1:]]))


def describe(fixture, arguments):
    """(name, value) for everything that the results depend on."""
    yield "date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    yield "commit", arguments.commit or first_line("git", "-C", TOP, "rev-parse", "HEAD") or "unknown"
    yield "command", command()
    yield "CPU", cpu_name()
    yield "CPUs", str(fixture.cpus)
    yield "topology", topology()
    yield "virtual machine", virtual()
    yield "extensions", cpu_extensions()
    yield "caches", caches()
    yield "memory", f"{total_memory() / GI:.0f} GiB"
    yield "Linux", os.uname().release
    for gpu in gpus() if fixture.gpus else []:
        name, driver, generation, width, memory = [field.strip() for field in gpu.split(",")]
        yield "GPU", name
        yield "driver", driver
        yield "link", f"PCIe {generation} x{width}"
        yield "GPU memory", memory
    for rival in ("openssl", "age", "rage", "gpg"):
        version = first_line(rival, "version" if rival == "openssl" else "--version")
        if version:
            yield rival, version
    yield "data", storage(fixture.work)
    yield "disk", storage(fixture.disk)
    yield "large file", words_of(fixture.file_size)
    yield "stream", words_of(fixture.stream_size)
    if fixture.quick:
        yield "quick", "one run of each program, to try the script"
