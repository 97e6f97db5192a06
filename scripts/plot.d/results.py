"""The results of a run of scripts/bench, and how tables show them."""

import os

from inputs import BadInput, read
from style import significant, size_name

OURS = "gpuaes-stream"
GPUAGE = "gpuage"
RIVALS = ("openssl", "age", "rage", "gpg")
MI, GI = 1 << 20, 1 << 30
MIN_RUNS = 5  # results of fewer runs are not shown
SPREAD = 0.1  # from the slowest to the fastest run, relative to the median: tables show the range of larger ones
NOT_MEASURED = "Not measured in this run."  # instead of a table


class Run:
    """The results of one run. A table that was not measured is empty."""

    def __init__(self, folder):
        self.facts = self.read(folder, "run")
        if not self.facts:
            raise BadInput("has no run.csv")
        if self.fact("quick"):
            raise BadInput("has results of scripts/bench --quick, which only tries the script")
        for name in ("programs", "ciphers", "links", "limits", "kernels", "keys"):
            setattr(self, name, self.read(folder, name))
        self.programs = [row for row in self.programs if int(row["runs"]) >= MIN_RUNS]
        for row in self.programs:
            row["rate"] = int(row["bytes"]) / float(row["seconds"]) / 1e9

    @staticmethod
    def read(folder, name):
        path = os.path.join(folder, f"{name}.csv")
        return read(path)[0] if os.path.exists(path) else []

    def fact(self, name):
        return next(iter(self.facts_of(name)), "")

    def facts_of(self, name):
        return [row["value"] for row in self.facts if row["name"] == name]

    def of_part(self, part):
        return [row for row in self.programs if row["part"] == part]

    def on_cpus(self, count):
        """The rows with the largest file that other programs encrypted on this number of CPUs."""
        name = f"{count} CPU{'s' * (str(count) != '1')}"
        found = [row for row in self.of_part("rivals") if row["case"].partition(", ")[2] == name]
        return [row for row in found if int(row["bytes"]) == max(int(row["bytes"]) for row in found)]


def on_disk(run):
    """From a cached file to a file on a disk."""
    return [row for row in run.of_part("output") if row["case"].startswith("disk, ") and "cold" not in row["case"]]


def lanes_of(case):
    """The lanes of this program in a case with other programs."""
    return "cpu:1" if case.endswith(", 1 CPU") else "auto"


def cpu_name(run):
    return run.fact("CPU").replace("(R)", "").replace("(TM)", "").replace(" Processor", "")


def machine_name(run):
    names = run.facts_of("GPU")
    gpu = f"one {names[0]}" if len(names) == 1 else f"{len(names)} × {names[0]}" if names else "no GPU"
    kind = "a virtual machine with " if run.fact("virtual machine").startswith("yes") else ""
    return f"{kind}{run.fact('CPUs')} CPUs ({cpu_name(run).partition(' (')[0]}), {gpu}"


def with_machine(run, table):
    return table if table == NOT_MEASURED else f"{table}\n\nMeasured on {run.fact('date')}: {machine_name(run)}."


def duration(seconds):
    return f"{significant(seconds * 1e3)} ms" if seconds < 0.9995 else f"{significant(seconds)} s"


def named(rows, **values):
    return next((row for row in rows if all(row[name] == value for name, value in values.items())), None)


def varies(row):
    """Whether a table shows the slowest and the fastest run."""
    return float(row["max_seconds"]) - float(row["min_seconds"]) > SPREAD * float(row["seconds"])


def one_digit(ratio):
    """1.5, 2 or 16."""
    return f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}".removesuffix(".0")


def compared(row, base, name):
    """How a reader says it: half as fast as NAME, 30% slower than NAME, twice as fast as NAME."""
    ratio = row["rate"] / base["rate"]
    if 0.95 <= ratio < 1.05:
        return f"about as fast as {name}"
    if ratio < 1.45 and one_digit(ratio) != "0.5":
        return f"{abs(ratio - 1):.0%} {'faster' if ratio > 1 else 'slower'} than {name}"
    words = {"0.5": "half", "2": "twice"}
    return f"{words.get(one_digit(ratio), f'{one_digit(ratio)} times')} as fast as {name}"


def median_of(row):
    """The rate in GB/s."""
    return significant(row["rate"]) if row else ""


def rate_of(row):
    """The rate in GB/s, with the range if it is large."""
    if not row:
        return ""
    low, high = (int(row["bytes"]) / float(row[name]) / 1e9 for name in ("max_seconds", "min_seconds"))
    return median_of(row) + (f" ({significant(low)} to {significant(high)})" if varies(row) else "")


def lanes_rate_of(row):
    """Without the startup and shutdown of CUDA."""
    return significant(int(row["bytes"]) / float(row["lanes_seconds"]) / 1e9) if row and row["lanes_seconds"] else ""


def cpu_of(row):
    """CPU seconds per gigabyte."""
    return f"{float(row['cpu_seconds']) / int(row['bytes']) * 1e9:.2f}" if row else ""


def time_of(row):
    if not row:
        return ""
    time, low, high = (duration(float(row[name])) for name in ("seconds", "min_seconds", "max_seconds"))
    if low.split()[1] == high.split()[1] == time.split()[1]:
        low, high = low.split()[0], high.split()[0]
    return time + (f" ({low} to {high})" if varies(row) else "")


def markdown(headings, rows, align="---:"):
    """Columns without a value in any row are left out."""
    rows = [[str(field) for field in row] for row in rows]
    used = [i for i in range(len(headings)) if i == 0 or any(row[i] for row in rows)]
    if not rows or len(used) < 2:
        return NOT_MEASURED
    lines = ["| " + " | ".join(headings[i] for i in used) + " |", "|" + "|".join("---" if i == 0 else align for i in used) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row[i] for i in used) + " |" for row in rows])


def size_of(rows):
    return size_name(int(rows[0]["bytes"])) if rows else ""
