"""The age format, next to age and rage: files, pipes, sizes, and operations on a large file."""

import operations
from cpus import on_cpus
from files import sizes
from units import words_of


def run(fixture):
    fixture.forget_files()
    fixture.results.heading("age format, with age and rage")
    size, stream, lanes = fixture.file_size, fixture.stream_size, fixture.age_lanes()
    for count in sorted({fixture.cpus, min(2, fixture.cpus)}, reverse=True):
        with on_cpus(count):
            measure(fixture, f"file, {words_of(size)}, {count} CPU{'s' * (count > 1)}", size, lanes, 5)
    whole = operations.undamaged(fixture, "open age", fixture.encrypted(size, "age"), lanes[:-1])
    operations.measure(fixture, "age", whole)
    measure(fixture, f"pipe, {words_of(stream)}", stream, lanes, 5, piped=True)
    for small, runs in sizes(fixture):
        measure(fixture, f"file, {words_of(small)}", small, [None], runs)
    operations.run_rekey(fixture, "age", ["-k", fixture.identity, "-r", fixture.recipient])


def measure(fixture, case, size, lanes, runs, piped=False):
    """Every program encrypts the file of this size, and then opens what gpuaes-stream made of it."""
    for form, source in (("age", fixture.file_of(size)), ("open age", fixture.encrypted(size, "age"))):
        ours = [fixture.ours(form, each, source) for each in lanes]
        rivals = fixture.age_rivals(form, source)
        for c in [*ours, *rivals] if piped else []:
            c.between(["cat", source], ["cat"])
        fixture.compare("age", case, [*ours, *rivals], size, runs, 40, *rivals)
