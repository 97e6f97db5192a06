"""What goes between two pipes, and the shortest input."""

from contender import Contender, fastest, find, take_turns, times_as_fast
from report import print_table
from settings import KI, runs_of, words_of


def run(fixture, report, size):
    runs = runs_of("BENCH_PIPE_RUNS", 5)
    report.heading(f"cat FILE | X | cat >/dev/null, {words_of(size)}, AES-256, median of {runs}")
    plain, sealed = ["cat", fixture.file_of(size)], ["cat", fixture.sealed(size)]
    copies = [Contender(f"copy only, {each}", [fixture.bench, "copy", each]) for each in ("64K", "256K", "1M")]
    ours = [fixture.ours(form, "auto") for form in ("raw", "sealed", "open")]
    cuda = fixture.with_gpu(lambda form: fixture.ours(form, "cuda:0:2"), "raw", "sealed")
    rivals = fixture.rivals("openssl", "age", "cat", "pv", every=2)
    for c in [*copies, *ours, *cuda, *rivals]:
        c.between([sealed if c.name.startswith("open ") else plain], [["cat"]])
    for c in cuda:
        c.every = 2
    take_turns([*copies, *ours, *cuda, *rivals], runs, 120)

    copy = fastest(copies)
    openssl = find(rivals, "openssl")
    ratios = [("best copy", lambda c: times_as_fast(c, copy)), ("openssl", lambda c: times_as_fast(c, openssl)),
              ("age", lambda c: times_as_fast(c, find(rivals, "age"))), ("openssl's CPU", lambda c: cpu_ratio(c, openssl))]
    report.rates("pipe", "", [*copies, *ours, *cuda, *rivals], size, ratios)
    for c in ours:
        report.figure(f"pipe, {c.name}: of the best copy-only filter", times_as_fast(c, copy), 0.97)
    for c in cuda:
        report.figure(f"pipe, {c.name}: CPU seconds a GB, of openssl's", cpu_ratio(c, openssl), 1.0, at_least=False)
    if not cuda:
        report.unmeasured("pipe, GPU lanes: CPU seconds a GB, of openssl's", "no GPU")
    fixture.forget(sealed[1])


def cpu_ratio(contender, base):
    if not base or not base.has_run() or not contender.has_run():
        return None
    return contender.median("cpu") / base.median("cpu")


def run_small(fixture, report):
    runs = runs_of("BENCH_SMALL_RUNS", 50)
    report.heading(f"1 KiB, whole process, AES-256, median of {runs} (true does nothing: what a start costs)")
    path = fixture.file_of(KI)
    openssl = fixture.openssl(path)
    ours = [fixture.ours(form, None, path) for form in ("raw", "sealed")]
    contenders = [Contender("true", ["true"]), openssl, *ours, *fixture.rivals("age", source=path)]
    take_turns(contenders, runs)
    rows = []
    for c in contenders:
        if c.has_run() and openssl.has_run():
            rows.append([c.name, f"{c.wall * 1e3:.2f}", f"{min(c.times['wall']) * 1e3:.2f}",
                         f"{c.median('cpu') * 1e3:.2f}", f"{c.wall / openssl.wall:.2f}"])
        else:
            report.failure(f"{c.name}: {c.failed or openssl.failed}")
    print_table(["", "ms", "least", "CPU ms", "x openssl's time"], rows)
    report.keep("small", "contenders", [c.to_json() for c in contenders])
    for c in ours:
        ratio = c.wall / openssl.wall if c.has_run() and openssl.has_run() else None
        report.figure(f"1 KiB, {c.name}: time, of openssl's", ratio, 1.5, at_least=False)
