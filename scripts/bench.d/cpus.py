"""CPU lanes, CUDA lanes and -l auto on different numbers of CPUs, to check src/lane/auto_lanes.cpp."""

import contextlib
import os

from units import GI, words_of

MAX_BYTES = 4 * GI  # enough to make the startup time of CUDA insignificant


@contextlib.contextmanager
def on_cpus(count):
    """Restricts this script, and the programs that it starts meanwhile, to the first CPUs."""
    usable = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(usable)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, usable)


def run(fixture):
    size = min(fixture.file_size, MAX_BYTES)
    fixture.results.heading(f"file of {words_of(size)} to /dev/null, whole process, on the first N CPUs")
    for count in [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= fixture.cpus]:
        path = fixture.file_of(size)
        for cipher, form in (("aes-256", "sealed"), ("kuznyechik", "sealed"), ("kuznyechik", "raw"), ("chacha20-poly1305", "age")):
            lanes = [f"cpu:{count}", *fixture.cuda_lanes()[:1], "auto"]
            contenders = [fixture.ours(form, each, path, cipher=cipher) for each in lanes]
            with on_cpus(count):
                fixture.compare("cpus", f"{count} CPU{'s' * (count > 1)}, {cipher} {form}", contenders, size,
                                2, 3, contenders[0])
