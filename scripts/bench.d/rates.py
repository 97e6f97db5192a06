"""Files in the page cache to /dev/null, and pipes: every kind of lane, other programs, and numbers of CPUs."""

import contextlib
import os

from contender import Contender
from units import GI, MI, words_of

# The sizes are for up to 8 CPUs; with more, they grow in proportion. Kuznyechik takes long on one CPU.
BY_CPUS = (("aes-256", "sealed", 4 * GI), ("chacha20-poly1305", "age", 4 * GI), ("kuznyechik", "sealed", GI))


@contextlib.contextmanager
def on_cpus(count):
    """Restricts this script, and the programs that it starts meanwhile, to the first CPUs."""
    usable = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(usable)[:count])
    try:
        yield f"{count} CPU{'s' * (count > 1)}"
    finally:
        os.sched_setaffinity(0, usable)


def run_file(fixture):
    size, lanes = fixture.file_size, ["cpu", *fixture.cuda_lanes(), "auto"]
    fixture.results.heading(f"file of {words_of(size)} to /dev/null")
    path = fixture.file_of(size)
    sources = {"raw": path, "sealed": path, "open": fixture.encrypted(size)}
    ours = [fixture.ours(form, each, source) for each in lanes for form, source in sources.items()]
    ours.append(fixture.ours("sealed", "auto:low-cpu", path))
    if fixture.gpus:
        ours.append(fixture.ours("sealed", "cpu+cuda:0", path))
    read = fixture.read_alone(path)
    fixture.compare(f"{words_of(size)}, AES-256", [read, *ours], size)
    fixture.forget_encrypted()
    kuznyechik = [fixture.ours(form, each, path, cipher="kuznyechik") for each in lanes for form in ("raw", "sealed")]
    fixture.compare(f"{words_of(size)}, Kuznyechik", kuznyechik, size)
    sources = {"age": path, "open age": fixture.encrypted(size, "age")}
    age = [fixture.ours(form, each, source) for each in fixture.age_lanes() for form, source in sources.items()]
    fixture.compare(f"{words_of(size)}, age", age, size)
    fixture.forget_encrypted()


def run_rivals(fixture):
    """All programs on one CPU, and all on all CPUs. With one CPU, our lanes are CPU lanes, because other programs use no
    GPU."""
    fixture.results.heading("files to /dev/null, with other programs")
    small, large = min(64 * MI, fixture.file_size), min(GI, fixture.file_size)
    for size, count, lanes in ((large, 1, "cpu:1"), *((size, fixture.cpus, "auto") for size in sorted({small, large}))):
        path = fixture.file_of(size)
        sources = {"raw": path, "sealed": path, "age": path, "open": fixture.encrypted(size), "open age": fixture.encrypted(size, "age")}
        ours = [fixture.ours(form, lanes, source) for form, source in sources.items()]
        rivals = [fixture.openssl(path), *fixture.gpg(path)]
        rivals += [rival for form in ("age", "open age") for rival in fixture.with_gpuage(form, sources[form])]
        with on_cpus(count) as cpus:
            fixture.compare(f"{words_of(size)}, {cpus}", [*ours, *rivals], size)


def run_pipe(fixture):
    size = fixture.stream_size
    fixture.results.heading(f"cat FILE | PROGRAM | cat >/dev/null, {words_of(size)}")
    cat, openssl = Contender("cat", ["cat"], action="copy"), fixture.openssl()
    ours = [fixture.ours("raw", "auto"), fixture.ours("open", "auto"), fixture.ours("sealed", "auto:low-cpu")]
    for lanes in ["auto", *fixture.cuda_lanes()]:
        ours += [fixture.ours("sealed", lanes, cipher=cipher) for cipher in ("aes-256", "kuznyechik")]
        ours.append(fixture.ours("age", lanes))
    contenders = [cat, *ours, openssl, *fixture.age_rivals("age")]
    for c in contenders:
        c.between(["cat", fixture.encrypted(size) if c.name.startswith("open ") else fixture.file_of(size)], ["cat"])
    fixture.compare(words_of(size), contenders, size)


def run_cpus(fixture):
    """To check how -l auto chooses."""
    fixture.results.heading("file to /dev/null, whole process, on the first N CPUs")
    for count in [n for n in (1, 2, 4, 8, 16, 32, 48, 64) if n <= fixture.cpus]:
        for cipher, form, size in BY_CPUS:
            size = min(size * max(count // 8, 1), fixture.file_size)
            path = fixture.file_of(size)
            contenders = [fixture.ours(form, each, path, cipher=cipher) for each in ["cpu", *fixture.cuda_lanes(), "auto"]]
            with on_cpus(count) as cpus:
                fixture.compare(f"{cpus}, {words_of(size)}, {cipher} {form}", contenders, size)
