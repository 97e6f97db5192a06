"""Sentences of PERFORMANCE.md with figures of the run: its conclusions, and how often the results were measured."""

from results import NOT_MEASURED, OURS, cpu_of, named, rate_of, ratio


def conclusions(run):
    lines = [text for text in (conclude(run) for conclude in (aes_on_cpus, gpu, age_files, pipes, cold_files)) if text]
    return "\n".join(f"- {line}" for line in lines) or NOT_MEASURED


def ours(run, part, **values):
    return named(run.of_part(part), **{"program": OURS, "cipher": "aes-256", "format": "sealed", "action": "encrypt", **values})


def other(run, part, program):
    return named(run.of_part(part), program=program, action="encrypt")


def aes_on_cpus(run):
    row, openssl = ours(run, "file", lanes="cpu"), other(run, "file", "openssl")
    return row and openssl and (
        f"**AES on CPUs**: a file in the page cache is sealed at {rate_of(row)} GB/s on {run.fact('CPUs')} CPUs, "
        f"{ratio(row, openssl)} the rate of `openssl` on one. [Files on CPUs](#files-on-cpus)")


def gpu(run):
    rows = [(ours(run, "file", lanes="cuda:0", cipher=cipher), ours(run, "file", lanes="cpu", cipher=cipher))
            for cipher in ("aes-256", "kuznyechik")]
    if not all(row for pair in rows for row in pair):
        return None
    aes, kuznyechik = (ratio(*pair) for pair in rows)
    return (f"**On a GPU**, the same file is sealed with AES at {aes} the rate of the CPUs, and with Kuznyechik at "
            f"{kuznyechik}. [Files on a GPU](#files-on-a-gpu)")


def age_files(run):
    files = [row for row in run.of_part("age") if row["case"].startswith("file") and row["action"] == "encrypt"]
    largest = [row for row in files if row["bytes"] == max((row["bytes"] for row in files), key=int)]
    row, age = named(largest, program=OURS, lanes="auto"), named(largest, program="age")
    if row and age:
        return f"**age files** are encrypted at {rate_of(row)} GB/s, {ratio(row, age)} the rate of `age`. [age files](#age-files)"
    age = other(run, "file", "age")
    return age and (f"**age files** of {OURS} were not measured in this run. `age` encrypts the same file at {rate_of(age)} "
                    "GB/s. [age files](#age-files)")


def pipes(run):
    row = ours(run, "pipe", lanes="auto")
    copy = max((row for row in run.of_part("pipe") if row["program"] == "gpuaes-bench copy"), key=lambda row: row["rate"], default=None)
    return row and copy and (
        f"**Between two pipes**, data is sealed at {rate_of(row)} GB/s, where a filter that only copies reaches "
        f"{rate_of(copy)} GB/s. [Pipes](#pipes)")


def cold_files(run):
    row, openssl = ours(run, "cold", lanes="auto"), other(run, "cold", "openssl")
    return row and openssl and (
        f"**A file that is not in the page cache** is sealed at the rate of the disk, here {rate_of(row)} GB/s, and takes "
        f"{cpu_of(row)} CPU seconds per GB, where `openssl` takes {cpu_of(openssl)}. [Cold files](#cold-files-and-cpu-time)")


def counts(run):
    runs = [int(row["runs"]) for row in run.programs]
    once, twice = runs.count(1), runs.count(2)
    return (f"Of the {len(runs)} results of programs in this run, {once} were measured once, {twice} twice, and "
            f"{len(runs) - once - twice} at least three times.")


TABLES = {"conclusions": conclusions, "counts": counts}
