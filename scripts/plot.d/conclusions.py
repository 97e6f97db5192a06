"""The conclusions of PERFORMANCE.md: a sentence each, with figures of the run. One whose rows were not measured is left out."""

from results import NOT_MEASURED, OURS, cpu_of, median_of, named, size_of
from style import significant


def conclusions(run):
    lines = [text for text in (conclude(run) for conclude in (aes_on_cpus, gpu, age_files, pipes, cold_files)) if text]
    return "\n".join(f"- {line}" for line in lines) or NOT_MEASURED


def times(row, base):
    return f"{significant(row['rate'] / base['rate'])} times"


def ours(rows, **values):
    return named(rows, **{"program": OURS, "cipher": "aes-256", "format": "sealed", "action": "encrypt", **values})


def other(rows, program):
    return named(rows, program=program, action="encrypt")


AGE = {"cipher": "chacha20-poly1305", "format": "age"}


def aes_on_cpus(run):
    single, files = run.on_cpus(1), run.of_part("file")
    row, openssl, all_cpus = ours(single), other(single, "openssl"), ours(files, lanes="cpu")
    return row and openssl and all_cpus and (
        f"**AES on CPUs**: one CPU seals {times(row, openssl)} as fast as `openssl` encrypts ({median_of(row)} GB/s). {run.fact('CPUs')} CPUs "
        f"reach {median_of(all_cpus)} GB/s with a {size_of(files)} file. [Files](#files-in-the-page-cache)")


def gpu(run):
    files = run.of_part("file")
    kinds = {"AES": {}, "age": AGE, "Kuznyechik": {"cipher": "kuznyechik"}}
    pairs = {name: (ours(files, lanes="cuda:0", **values), ours(files, lanes="cpu", **values)) for name, values in kinds.items()}
    rates = [f"{median_of(gpu)} GB/s with {name} ({run.fact('CPUs')} CPUs: {median_of(cpus)})" for name, (gpu, cpus) in pairs.items()
             if gpu and cpus]
    return rates and (
        f"**A GPU** encrypts a {size_of(files)} file at {', '.join(rates)}, including the time that CUDA takes to start and end. "
        f"[Files on a GPU](#files-on-a-gpu)")


def age_files(run):
    pairs = [(ours(here, **AGE), other(here, "age")) for here in (run.on_cpus(1), run.on_cpus(run.fact("CPUs")))]
    return all(pairs[0] + pairs[1]) and (
        f"**age files**: one CPU encrypts {times(*pairs[0])} as fast as `age`, and {run.fact('CPUs')} CPUs {times(*pairs[1])} as fast, with "
        f"a {size_of([pairs[0][0]])} file. [age files](#age-files)")


def pipes(run):
    here = run.of_part("pipe")
    row, cat = ours(here, lanes="auto"), named(here, program="cat")
    return row and cat and (f"**Between two pipes**, sealing is {times(row, cat)} as fast as `cat`, which cannot read while it writes "
                            f"({median_of(row)} GB/s). [Pipes](#pipes)")


def cold_files(run):
    here = run.of_part("cold")
    row, openssl = ours(here, lanes="auto"), other(here, "openssl")
    return row and openssl and (f"**Cold files**, which are not in the page cache, are sealed at {median_of(row)} GB/s, with {cpu_of(row)} CPU "
                                f"seconds per GB instead of {cpu_of(openssl)} for `openssl`. [Cold files](#cold-files-and-cpu-time)")


TABLES = {"conclusions": conclusions}
