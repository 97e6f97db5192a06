"""The conclusions of PERFORMANCE.md: a sentence each, with figures of the run. One whose rows were not measured is left out."""

from results import NOT_MEASURED, OURS, cpu_of, named, rate_of, ratio, size_of


def conclusions(run):
    lines = [text for text in (conclude(run) for conclude in (aes_on_cpus, gpu, age_files, pipes, cold_files)) if text]
    return "\n".join(f"- {line}" for line in lines) or NOT_MEASURED


def ours(rows, **values):
    return named(rows, **{"program": OURS, "cipher": "aes-256", "format": "sealed", "action": "encrypt", **values})


def other(rows, program):
    return named(rows, program=program, action="encrypt")


AGE = {"cipher": "chacha20-poly1305", "format": "age"}


def on_one_and_all_cpus(run, title, verb, program, link, **values):
    single, files = run.on_cpus(1), run.of_part("file")
    row, rival, all_cpus = ours(single, **values), other(single, program), ours(files, lanes="cpu", **values)
    return row and rival and all_cpus and (
        f"**{title}**: one CPU {verb} a {size_of(single)} file in the page cache at {rate_of(row)} GB/s, {ratio(row, rival)} the rate "
        f"of `{program}`. {run.fact('CPUs')} CPUs do so at {rate_of(all_cpus)} GB/s with {size_of(files)}. {link}")


def aes_on_cpus(run):
    return on_one_and_all_cpus(run, "AES on CPUs", "seals", "openssl", "[Files on CPUs](#files-on-cpus)")


def age_files(run):
    return on_one_and_all_cpus(run, "age files", "encrypts", "age", "[age files](#age-files)", **AGE)


def gpu(run):
    files = run.of_part("file")
    kinds = {"AES": {}, "Kuznyechik": {"cipher": "kuznyechik"}, "age files": AGE}
    pairs = {name: (ours(files, lanes="cuda:0", **values), ours(files, lanes="cpu", **values)) for name, values in kinds.items()}
    ratios = [f"{ratio(*pair)} with {name}" for name, pair in pairs.items() if all(pair)]
    return ratios and (
        f"**On a GPU**, a {size_of(files)} file is encrypted at {', '.join(ratios[:-1])}{' and ' * (len(ratios) > 1)}{ratios[-1]}, relative "
        f"to {run.fact('CPUs')} CPUs and including the time in which CUDA starts and ends. [Files on a GPU](#files-on-a-gpu)")


def pipes(run):
    here = run.of_part("pipe")
    row, cat = ours(here, lanes="auto"), named(here, program="cat")
    return row and cat and (
        f"**Between two pipes**, data is sealed at {rate_of(row)} GB/s, and `cat` copies it at {rate_of(cat)} GB/s. [Pipes](#pipes)")


def cold_files(run):
    here = run.of_part("cold")
    row, openssl = ours(here, lanes="auto"), other(here, "openssl")
    return row and openssl and (
        f"**A file that is not in the page cache** is sealed at the rate of the disk, here {rate_of(row)} GB/s, and takes "
        f"{cpu_of(row)} CPU seconds per GB, where `openssl` takes {cpu_of(openssl)}. [Cold files](#cold-files-and-cpu-time)")


TABLES = {"conclusions": conclusions}
