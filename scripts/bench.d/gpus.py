"""1, 2, 4, 8 and all GPUs of one host, from the page cache to /dev/null: chunk sizes, additional CPU lanes, and the
rates of a program that only reads and copies. gpuaes-stream opens only as many GPUs as pay off for the file."""

from units import KI, size_of, words_of

CHUNKS = ("2M", "4M")
CHUNK_STREAMS = 8  # per device, with each chunk size
CPU_LANES = 16


def run(fixture):
    counts = sorted({count for count in (1, 2, 4, 8) if count < fixture.gpus} | {fixture.gpus})
    size = fixture.file_size
    fixture.results.heading(f"file of {words_of(size)} to /dev/null, by number of GPUs")
    if not fixture.gpus:
        fixture.results.left_out("no GPU")
        return
    devices = [lanes_of(count) for count in counts]
    # A file for which nearly all of the time goes into starting and ending CUDA.
    start = [fixture.ours("sealed", each, fixture.file_of(KI)) for each in devices]
    fixture.compare(words_of(KI), start, KI, start[0])
    path = fixture.file_of(size)
    sources = {"sealed": path, "open": fixture.encrypted(size), "age": path}

    def measure(forms, lanes, case="", *options):
        contenders = [fixture.ours(form, each, sources[form], more=options) for form in forms for each in lanes]
        fixture.compare(words_of(size) + case, contenders, size)

    measure(sources, ["cpu", *devices, "auto"])
    for chunk in CHUNKS:
        measure(["sealed"], [lanes_of(count, f":{CHUNK_STREAMS}") for count in counts],
                f", {CHUNK_STREAMS} streams, chunks of {words_of(size_of(chunk))}", "-b", chunk)
    if fixture.cpus >= CPU_LANES:
        measure(["sealed"], [f"cpu:{CPU_LANES}+{each}" for each in devices], f", {CPU_LANES} CPU lanes")
    fixture.bench_rows("transfer", "transfer", "--devices", ",".join(map(str, counts)), "--streams", "4,8,14", "--sizes",
                       ",".join(CHUNKS), "--steps", "in+out,read,read+in+out", source=path, seconds=90)


def lanes_of(devices, streams=""):
    return "+".join(f"cuda:{device}{streams}" for device in range(devices))
