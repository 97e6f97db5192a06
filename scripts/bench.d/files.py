"""From the page cache to /dev/null: every kind of lane on a large file, and several sizes next to other programs."""

from units import GI, KI, MI, words_of


def lanes_of(fixture):
    return ["cpu", *fixture.cuda_lanes(), "auto"]


def run(fixture):
    size = fixture.file_size
    fixture.results.heading(f"file of {words_of(size)} to /dev/null")
    path = fixture.file_of(size)
    sources = {"raw": path, "sealed": path, "open": fixture.encrypted(size)}
    ours = [fixture.ours(form, lanes, source) for lanes in lanes_of(fixture) for form, source in sources.items()]
    ours += [fixture.ours("cobblestone", "auto", path), fixture.ours("sealed", "auto:low-cpu", path)]
    read, openssl = fixture.read_alone(path), fixture.openssl(path)
    openssl.every = 3  # slow
    fixture.compare("file", f"{words_of(size)}, AES-256", [read, *ours, openssl], size, 5, 60, read, openssl)
    run_kuznyechik(fixture, path, size)


def run_kuznyechik(fixture, path, size):
    gost = fixture.gost_engine(path) if size <= GI else []  # slow: run_sizes() measures it on a smaller file
    ours = [fixture.ours(form, lanes, path, cipher="kuznyechik") for lanes in lanes_of(fixture) for form in ("raw", "sealed")]
    fixture.compare("file", f"{words_of(size)}, Kuznyechik", [*ours, *gost], size, 3, 30, *gost)


def sizes(fixture):
    """(size, number of runs) for sizes up to that of the large file."""
    return [(size, runs) for size, runs in ((KI, 40), (64 * MI, 9), (GI, 3)) if size <= fixture.file_size]


def run_sizes(fixture):
    """Each size with the lanes that -l auto chooses."""
    fixture.results.heading("files to /dev/null, with other programs")
    for size, runs in sizes(fixture):
        path = fixture.file_of(size)
        ours = [fixture.ours(form, None, path) for form in ("raw", "sealed", "cobblestone")]
        ours.append(fixture.ours("open", None, fixture.encrypted(size)))
        kuznyechik = [fixture.ours(form, None, path, cipher="kuznyechik") for form in ("raw", "sealed")]
        rivals = [fixture.openssl(path), *fixture.gpg(path)]
        gost = fixture.gost_engine(path) if size <= 64 * MI else []
        fixture.compare("sizes", words_of(size), [*ours, *kuznyechik, *rivals, *gost], size, runs, 12, *rivals)
