"""From the page cache to /dev/null: every kind of lane on a large file, and several sizes next to other programs."""

from contender import find, take_turns
from units import GI, KI, MI, words_of

FORMS = ("raw", "sealed", "open")


def lanes_of(fixture):
    return ["cpu", *fixture.cuda_lanes(), "auto"]


def run(fixture):
    size = fixture.file_size
    case = f"{words_of(size)}, AES-256"
    fixture.results.heading(f"file of {words_of(size)} to /dev/null")
    path = fixture.file_of(size)
    sources = {"raw": path, "sealed": path, "open": fixture.sealed(size)}
    ours = [fixture.ours(form, lanes, sources[form]) for lanes in lanes_of(fixture) for form in FORMS]
    ours += [fixture.ours("cobblestone", "auto", path), fixture.ours("sealed", "auto:low-cpu", path)]
    read = fixture.read_alone(path)
    rivals = [fixture.openssl(path), *fixture.age_encrypts(path)]
    for rival, every in zip(rivals, (3, 5)):  # they are slow on a large file
        rival.every = every
    take_turns([read, *ours, *rivals], fixture.runs(5), fixture.deadline.at_most(60))
    fixture.results.compare("file", case, [read, *ours, *rivals], size, read, *rivals)
    run_kuznyechik(fixture, path, size)


def run_kuznyechik(fixture, path, size):
    gost = fixture.gost_engine(path) if size <= GI else None  # slow: run_sizes() measures it on a smaller file
    ours = [fixture.ours(form, lanes, path, cipher="kuznyechik") for lanes in lanes_of(fixture) for form in ("raw", "sealed")]
    contenders = [*ours, *([gost] if gost else [])]
    take_turns(contenders, fixture.runs(3), fixture.deadline.at_most(30))
    fixture.results.compare("file", f"{words_of(size)}, Kuznyechik", contenders, size, gost)


def run_sizes(fixture):
    """Each size with the lanes that -l auto chooses."""
    fixture.results.heading("files to /dev/null, with other programs")
    for size, runs in ((KI, 40), (64 * MI, 9), (GI, 3)):
        if size > fixture.file_size:
            fixture.results.left_out(f"{words_of(size)}: larger than the large file")
            continue
        path = fixture.file_of(size)
        ours = [fixture.ours(form, None, path) for form in ("raw", "sealed", "cobblestone")]
        ours.append(fixture.ours("open", None, fixture.sealed(size)))
        kuznyechik = [fixture.ours(form, None, path, cipher="kuznyechik") for form in ("raw", "sealed")]
        rivals = [fixture.openssl(path), *fixture.age_encrypts(path), *fixture.age_decrypts(size), *fixture.gpg(path)]
        gost = fixture.gost_engine(path) if size <= 64 * MI else None
        contenders = [*ours, *kuznyechik, *rivals, *([gost] if gost else [])]
        take_turns(contenders, fixture.runs(runs), fixture.deadline.at_most(12))
        fixture.results.compare("sizes", words_of(size), contenders, size, find(rivals, "openssl"), find(rivals, "age"),
                                find(rivals, "gpg"))
