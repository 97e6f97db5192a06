"""Kuznyechik: a file in the page cache to /dev/null and a stream between two pipes, beside gost-engine, which brings the
cipher to openssl enc, and beside AES."""

from check import output_of
from contender import find, take_turns, times_as_fast
from settings import KI, runs_of, words_of

CIPHER = "kuznyechik"
FORMS = ("raw", "sealed")


def run(fixture, report, size):
    run_file(fixture, report, size)
    run_pipe(fixture, report, size)


def run_file(fixture, report, size):
    runs = runs_of("BENCH_FILE_RUNS", 3)
    report.heading(f"Kuznyechik, page-cached file of {words_of(size)} to /dev/null, median of {runs}")
    path = fixture.file_of(size)
    gost = fixture.gost_engine(path)
    if gost:
        check_bytes(fixture, gost)
    cuda = ["cuda:0"] if fixture.gpus else []
    ours = [fixture.ours(form, lanes, path, cipher=CIPHER) for lanes in ["cpu:1", "cpu", "auto", *cuda] for form in FORMS]
    aes = [fixture.ours(form, lanes, path) for lanes in ["auto", *cuda] for form in FORMS]
    contenders = [*ours, *aes, *filter(None, [gost])]
    take_turns(contenders, runs, 240)
    report.rates("kuznyechik file", "", contenders, size,
                 [("gost-engine", lambda c: times_as_fast(c, gost)), ("AES", lambda c: times_as_fast(c, of_aes(c, aes)))])
    one = find(ours, f"{CIPHER} raw -l cpu:1")
    report.figure("Kuznyechik, one CPU lane: x gost-engine", times_as_fast(one, gost), 3.0)
    raw = [find(ours, f"{CIPHER} raw -l {lanes}") for lanes in ["auto", *cuda]]
    compare_with_aes(fixture, report, "file", raw, aes, 0.9)


def run_pipe(fixture, report, size):
    runs = runs_of("BENCH_PIPE_RUNS", 5)
    report.heading(f"Kuznyechik, cat FILE | X | cat >/dev/null, {words_of(size)}, median of {runs}")
    plain = ["cat", fixture.file_of(size)]
    ours = [fixture.ours(form, "auto", cipher=CIPHER) for form in FORMS]
    aes = [fixture.ours(form, "auto") for form in FORMS]
    for c in [*ours, *aes]:
        c.between([plain], [["cat"]])
    take_turns([*ours, *aes], runs, 120)
    report.rates("kuznyechik pipe", "", [*ours, *aes], size, [("AES", lambda c: times_as_fast(c, of_aes(c, aes)))])
    compare_with_aes(fixture, report, "pipe", ours, aes, 1.0)


def compare_with_aes(fixture, report, name, ours, aes, asked):
    """What is asked for where there is a GPU: CPUs have instructions for AES."""
    for c in ours:
        if fixture.gpus:
            report.figure(f"{name}, {c.name}: of AES", times_as_fast(c, of_aes(c, aes)), asked)
        else:
            report.unmeasured(f"{name}, {c.name}: of AES", "no GPU")


def of_aes(contender, aes):
    """AES in the same format, by the same lanes or by those that auto takes; None for what is none of ours."""
    form_and_lanes = contender.name.removeprefix(f"{CIPHER} ")
    same_form = [c for c in aes if c.name.split(" -l ")[0] == form_and_lanes.split(" -l ")[0]]
    return find(aes, form_and_lanes) or next(iter(same_form), None)


def check_bytes(fixture, gost):
    data = bytes(range(256)) * (4 * KI) + b"12345"
    if output_of(fixture.ours("raw", "auto", cipher=CIPHER), data) != output_of(gost, data):
        raise SystemExit("bench: raw kuznyechik and gost-engine write different bytes")
