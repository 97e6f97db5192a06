"""Files in the page cache to /dev/null: the limits of lanes that read for themselves, and whole runs beside rivals."""

from contender import fastest, find, take_turns, times_as_fast
from report import print_table
from settings import GI, MI, runs_of, words_of

FORMS = ("raw", "sealed", "open")


def devices_in(contender, gpus):
    lanes = contender.name.rpartition(" ")[2]
    return gpus if lanes == "cuda" else lanes.count("cuda:")


def of_link(fixture, contender, plan, size, clock):
    """The part of the links' rate both ways at once that was reached; None for lanes that use none."""
    devices = devices_in(contender, fixture.gpus)
    limit = fixture.limits.duplex(devices, plan.chunk) if plan and devices and contender.has_run() else None
    return size / 1e9 / contender.median(clock) / limit if limit else None


def contenders_of(fixture, size):
    lanes = ["cpu", *fixture.gpu_lanes(), "auto"]
    sources = {"raw": fixture.file_of(size), "sealed": fixture.file_of(size), "open": fixture.sealed(size)}
    ours = [fixture.ours(form, each, sources[form]) for each in lanes for form in FORMS]
    return ours + [fixture.ours("cobblestone", "auto", sources["raw"])]


def run(fixture, report, size):
    runs = runs_of("BENCH_FILE_RUNS", 3)
    report.heading(f"page-cached file of {words_of(size)} to /dev/null, AES-256, median of {runs}")
    if not fixture.gpus:
        report.skip("no GPU for cuda:0, cpu+cuda:0")
    path = fixture.file_of(size)
    ours = contenders_of(fixture, size)
    plans = {lanes: fixture.plan("raw", lanes, path) for lanes in ("cpu", *(["cuda:0"] if fixture.gpus else []))}
    reads = [fixture.read_alone(path, plan.workers, plan.chunk, buffers) for plan in plans.values()
             for buffers in dict.fromkeys((plan.workers, plan.chunks))]
    rivals = fixture.rivals("openssl", "age", source=path, every=2)
    take_turns([*reads, *ours, *rivals], runs, 120)
    fixture.compared[size] = [*ours, *rivals]

    cuda = plans.get("cuda:0")
    best_alone = {form: fastest(find(ours, f"{form} -l {lanes}") for lanes in plans) for form in FORMS}
    ratios = [("pread", lambda c: times_as_fast(c, fastest(reads))),
              ("cpu or cuda:0", lambda c: times_as_fast(c, best_alone.get(c.name.partition(" ")[0])))]
    if fixture.gpus:
        ratios += [("PCIe", lambda c: of_link(fixture, c, cuda, size, "wall")),
                   ("PCIe, lanes", lambda c: of_link(fixture, c, cuda, size, "lanes"))]
    ratios += [(c.name, lambda c, rival=c: times_as_fast(c, rival)) for c in rivals]
    report.rates("file", "", [*reads, *ours, *rivals], size, ratios)
    for chosen, names in group_by_details(ours).items():
        print(f"  {chosen}: {', '.join(names)}")
    print_limits(fixture, fastest(reads), cuda, size)
    add_figures(fixture, report, ours, best_alone, cuda, size)
    fixture.forget(path + ".sealed")


def group_by_details(contenders):
    groups = {}
    for c in contenders:
        groups.setdefault(c.details(), []).append(c.name)
    return groups


def print_limits(fixture, read, cuda, size):
    """The limits beside each other. What takes the bytes through several of them reaches less than the least."""
    limits = [f"pread alone {size / 1e9 / read.wall:.1f}"] if read else []
    limits += [f"libcrypto in caches, {fixture.cpus} threads, {kind} {every:.1f}"
               for (cipher, kind, chunk), (_, every) in fixture.limits.memory().items()
               if (cipher, chunk) == ("aes-256", 1024)]
    duplex = fixture.limits.duplex(1, cuda.chunk) if cuda else None
    if duplex:
        limits.append(f"PCIe both ways at once, copies of {words_of(cuda.chunk)}, {duplex:.1f}")
    print(f"  limits, GB/s: {'; '.join(limits)}")


def add_figures(fixture, report, ours, best_alone, cuda, size):
    name = f"file {words_of(size)}"
    for form in FORMS:
        one = find(ours, f"{form} -l cuda:0")
        if not one:
            report.unmeasured(f"{name}, {form}, one GPU: of PCIe both ways at once", "no GPU")
        else:
            for clock, words in (("wall", "whole process"), ("lanes", "while lanes had work")):
                report.figure(f"{name}, {form}, one GPU, {words}: of PCIe both ways at once",
                              of_link(fixture, one, cuda, size, clock), 0.9)
    for form in FORMS:
        for lanes in ("cpu+cuda:0", "auto"):
            both = find(ours, f"{form} -l {lanes}")
            if both and fixture.gpus:
                report.figure(f"{name}, {form} -l {lanes}: of the better of cpu and cuda:0",
                              times_as_fast(both, best_alone[form]), 1.0)
            else:
                report.unmeasured(f"{name}, {form} -l {lanes}: of the better of cpu and cuda:0", "no GPU")


def run_sizes(fixture, report, file_size):
    """Whole runs of what -l auto does, from files, beside openssl enc and age."""
    runs = runs_of("BENCH_FILE_RUNS", 3)
    report.heading("whole runs from page-cached files to /dev/null, -l auto")
    rows = []
    for size in sorted({64 * MI, GI, file_size}):
        if size > file_size:
            continue
        contenders = fixture.compared.get(size) or measure(fixture, size, 3 * runs if size <= GI else runs)
        report.keep("sizes", str(size), [c.to_json() for c in contenders])
        add_rows(report, rows, contenders, size)
    print_table(["", "size", "seconds", "GB/s", "rival", "seconds", "x rival", ""], rows)


def measure(fixture, size, runs):
    path = fixture.file_of(size)
    contenders = [fixture.ours(form, "auto", path) for form in ("raw", "sealed", "cobblestone")]
    contenders += fixture.rivals("openssl", "age", source=path, every=1 if size <= GI else 2)
    if size <= GI:
        contenders += [fixture.ours("open", "auto", fixture.sealed(size)), *fixture.age_opens(size)]
    take_turns(contenders, runs)
    return contenders


def add_rows(report, rows, contenders, size):
    pairs = [(form, rival) for form in ("raw", "sealed", "cobblestone") for rival in ("openssl", "age")] + [("open", "age -d")]
    ratios = {}
    for form, rival in pairs:
        mine, other = find(contenders, f"{form} -l auto"), find(contenders, rival)
        ratio = times_as_fast(mine, other)
        if ratio:
            ratios[f"{form} against {rival}"] = ratio
            rows.append([mine.name, words_of(size), f"{mine.wall:.3f}", f"{size / 1e9 / mine.wall:.2f}", rival,
                         f"{other.wall:.3f}", f"{ratio:.2f}", "" if ratio >= 1 else "SLOWER"])
        else:
            for c in (mine, other):
                if c and c.failed:
                    report.failure(f"{c.name}, {words_of(size)}: {c.failed}")
    if ratios:
        worst = min(ratios, key=ratios.get)
        report.figure(f"{words_of(size)}: times as fast as the fastest rival, at worst ({worst})", ratios[worst], 1.0)
    else:
        report.unmeasured(f"{words_of(size)}: times as fast as the fastest rival", "nothing to compare with")
