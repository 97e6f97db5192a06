"""1, 2, 4 and 8 GPUs of one host, from the page cache to /dev/null: sizes of chunks, additional CPU lanes, and the rates
of a program that only reads and copies."""

from contender import take_turns
from units import MI, size_of, words_of

DEVICES = (1, 2, 4, 8)
CHUNKS = ("1M", "2M", "4M", "8M")
CPU_LANES = (8, 16, 32)
FORMS = ("raw", "sealed", "open")


def run(fixture):
    counts = [count for count in DEVICES if count <= fixture.gpus]
    size = fixture.file_size
    fixture.results.heading(f"file of {words_of(size)} to /dev/null, on {', '.join(map(str, counts)) or 'no'} GPUs")
    if not counts:
        fixture.results.left_out("numbers of GPUs: no GPU")
        return
    devices = [fixture.devices(count) for count in counts]
    measure_start(fixture, devices)
    measure(fixture, words_of(size), ["cpu", *devices])
    measure_copies(fixture, counts)
    for chunk in CHUNKS:
        measure(fixture, f"{words_of(size)}, chunks of {words_of(size_of(chunk))}", devices, "-b", chunk)
    for count in CPU_LANES:
        if count <= fixture.cpus:
            measure(fixture, f"{words_of(size)}, {count} CPU lanes", [f"cpu:{count}+{each}" for each in devices])


def measure_start(fixture, devices):
    """A file for which nearly all of the time goes into starting and ending CUDA."""
    contenders = [fixture.ours("sealed", each, fixture.file_of(MI)) for each in devices]
    take_turns(contenders, fixture.runs(7), fixture.deadline.at_most(60))
    fixture.results.compare("gpus", words_of(MI), contenders, MI, contenders[0])


def measure(fixture, case, lanes, *options):
    size = fixture.file_size
    sources = {"raw": fixture.file_of(size), "sealed": fixture.file_of(size), "open": fixture.sealed(size)}
    contenders = [fixture.ours(form, each, sources[form], more=options) for form in FORMS for each in lanes]
    take_turns(contenders, fixture.runs(3), fixture.deadline.at_most(90))
    fixture.results.compare("gpus", case, contenders, size)


def measure_copies(fixture, counts):
    fixture.bench_rows("transfer", "transfer", "--devices", ",".join(map(str, counts)), "--streams", "8,16", "--sizes",
                       ",".join(CHUNKS), "--steps", "in+out,read,read+in+out", source=fixture.file_of(fixture.file_size),
                       seconds=180)
