"""CPU lanes, CUDA lanes and -l auto on different numbers of CPUs, to check src/lane/auto_lanes.cpp."""

import os
import shutil

from contender import fastest, take_turns
from units import GI, words_of

MAX_BYTES = 4 * GI  # enough to make the startup time of CUDA insignificant


def pinned(contender, cpus):
    contender.command = ["taskset", "-c", ",".join(map(str, cpus)), *contender.command]
    return contender


def run(fixture):
    size = min(fixture.file_size, MAX_BYTES)
    fixture.results.heading(f"file of {words_of(size)} to /dev/null, whole process, on the first N CPUs")
    if not shutil.which("taskset"):
        fixture.results.left_out("numbers of CPUs: taskset is not installed")
        return
    usable = sorted(os.sched_getaffinity(0))[:fixture.cpus]
    deadline = fixture.deadline.at_most(50)
    for count in [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= len(usable)]:
        path = fixture.file_of(size)
        for cipher, form in (("aes-256", "sealed"), ("kuznyechik", "sealed"), ("kuznyechik", "raw")):
            lanes = [f"cpu:{count}", *(["cuda:0"] if fixture.gpus else []), "auto"]
            contenders = [pinned(fixture.ours(form, each, path, cipher=cipher), usable[:count]) for each in lanes]
            take_turns(contenders, fixture.runs(2), deadline)
            fixture.results.compare("cpus", f"{count} CPU{'s' * (count > 1)}, {cipher} {form}", contenders, size,
                                    fastest(contenders[:1]))
