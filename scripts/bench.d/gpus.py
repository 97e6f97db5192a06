"""1, 2, 4, 8 and all GPUs of one host: files in the page cache to /dev/null, and the rates of several GPUs without files.
gpuaes-stream opens only as many GPUs as pay off for the file; gpuaes-bench uses all that are named."""

from units import KI, words_of

STREAMS = (4, 8, 14)
CHUNKS = "2M,4M"
CPU_LANES = 16


def run(fixture):
    counts = sorted({count for count in (1, 2, 4, 8) if count < fixture.gpus} | {fixture.gpus})
    size = fixture.file_size
    fixture.results.heading(f"file of {words_of(size)} to /dev/null, by number of GPUs")
    if not fixture.gpus:
        fixture.results.left_out("no GPU")
        return
    # A file for which nearly all of the time goes into starting and ending CUDA.
    start = [fixture.ours("sealed", lanes_of(count), fixture.file_of(KI)) for count in counts]
    fixture.compare(words_of(KI), start, KI)
    path = fixture.file_of(size)
    sources = {"sealed": path, "open": fixture.encrypted(size), "age": path}
    lanes = ["cpu", "cuda:0", "cuda", "auto"]
    if fixture.cpus >= CPU_LANES:
        lanes.append(f"cpu:{CPU_LANES}+cuda:0")
    else:
        fixture.results.left_out(f"{CPU_LANES} CPU lanes with a GPU: only {fixture.cpus} CPUs")
    contenders = [fixture.ours(form, each, source) for form, source in sources.items() for each in lanes]
    fixture.compare(words_of(size), contenders, size)
    named = ",".join(lanes_of(count, f":{streams}") for streams in STREAMS for count in counts)
    fixture.bench_rows("pipeline", "pipeline", "-l", named, "-b", CHUNKS, "-f", "sealed", "--ciphers", "aes-256,kuznyechik",
                       seconds=120)
    fixture.bench_rows("transfer", "transfer", "--devices", ",".join(map(str, counts)), "--streams",
                       ",".join(map(str, STREAMS)), "--sizes", CHUNKS, "--steps", "in+out,read,read+in+out", source=path,
                       seconds=120)


def lanes_of(devices, streams=""):
    return "+".join(f"cuda:{device}{streams}" for device in range(devices))
