"""Files from the page cache to /dev/null, with other programs: all of them on one CPU, and all of them on all CPUs."""

from cpus import on_cpus
from units import GI, MI, words_of


def run(fixture):
    fixture.results.heading("files to /dev/null, with other programs")
    measure(fixture, min(GI, fixture.file_size), 1)
    for size in sorted({min(64 * MI, fixture.file_size), min(GI, fixture.file_size)}):
        measure(fixture, size, fixture.cpus)


def measure(fixture, size, count):
    """With CPU lanes where there is one CPU, because the other programs use no GPU. With several CPUs, -l auto chooses."""
    lanes = "cpu:1" if count == 1 else "auto"
    path = fixture.file_of(size)
    sources = {"raw": path, "sealed": path, "age": path, "open": fixture.encrypted(size), "open age": fixture.encrypted(size, "age")}
    ours = [fixture.ours(form, lanes, source) for form, source in sources.items()]
    rivals = [fixture.openssl(path), *fixture.gpg(path)]
    rivals += [rival for form in ("age", "open age") for rival in fixture.age_rivals(form, sources[form])]
    with on_cpus(count):
        fixture.compare(f"{words_of(size)}, {count} CPU{'s' * (count > 1)}", [*ours, *rivals], size, rivals[0])
