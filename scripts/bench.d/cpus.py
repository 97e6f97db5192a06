"""CPU lanes, CUDA lanes and -l auto on different numbers of CPUs, to check how -l auto chooses."""

import contextlib
import os

from units import GI, words_of

# Kuznyechik takes long on one CPU.
CASES = (("aes-256", "sealed", 4 * GI), ("chacha20-poly1305", "age", 4 * GI), ("kuznyechik", "sealed", 2 * GI))


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
    fixture.results.heading("file to /dev/null, whole process, on the first N CPUs")
    for count in [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= fixture.cpus]:
        for cipher, form, size in CASES:
            size = min(size, fixture.file_size)
            path = fixture.file_of(size)
            contenders = [fixture.ours(form, each, path, cipher=cipher) for each in [f"cpu:{count}", *fixture.cuda_lanes(), "auto"]]
            with on_cpus(count):
                fixture.compare(f"{count} CPU{'s' * (count > 1)}, {words_of(size)}, {cipher} {form}", contenders, size, contenders[0])
