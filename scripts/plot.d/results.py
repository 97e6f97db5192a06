"""The results of a run of scripts/bench, and how tables show them."""

import os

from inputs import BadInput, read
from style import significant, size_name

OURS = "gpuaes-stream"
MI, GI = 1 << 20, 1 << 30
NOT_MEASURED = "Not measured in this run."  # instead of a table


class Run:
    """The results of one run. A table that was not measured is empty."""

    def __init__(self, folder):
        self.facts = self.read(folder, "run")
        if not self.facts:
            raise BadInput("has no run.csv")
        for name in ("programs", "ciphers", "pipeline", "links", "limits", "kernels", "keys"):
            setattr(self, name, self.read(folder, name))
        for row in self.programs:
            row["rate"] = int(row["bytes"]) / float(row["seconds"]) / 1e9

    @staticmethod
    def read(folder, name):
        path = os.path.join(folder, f"{name}.csv")
        return read(path)[0] if os.path.exists(path) else []

    def fact(self, name):
        return next((row["value"] for row in self.facts if row["name"] == name), "")

    def facts_of(self, name):
        return [row["value"] for row in self.facts if row["name"] == name]

    def of_part(self, part):
        return [row for row in self.programs if row["part"] == part]


def cpu_name(run):
    return run.fact("CPU").replace("(R)", "").replace("(TM)", "").removesuffix(" Processor")


def machine_name(run):
    names = run.facts_of("GPU")
    gpu = f"one {names[0]}" if len(names) == 1 else f"{len(names)} × {names[0]}" if names else "no GPU"
    return f"{run.fact('CPUs')} CPUs ({cpu_name(run)}), {gpu}"


def with_machine(run, table):
    return table if table == NOT_MEASURED else f"{table}\n\nMeasured on {run.fact('date')}: {machine_name(run)}."


def duration(seconds):
    return f"{significant(seconds * 1e3)} ms" if seconds < 0.9995 else f"{significant(seconds)} s"


def named(rows, **values):
    return next((row for row in rows if all(row[name] == value for name, value in values.items())), None)


def rate_of(row):
    return significant(row["rate"]) if row else ""


def both_rates(row):
    """The rate of the whole process and, in parentheses, the rate without the startup and shutdown of CUDA."""
    if not row:
        return ""
    if "cuda" not in row["lanes"] or not row["lanes_seconds"]:
        return rate_of(row)
    return f"{rate_of(row)} ({significant(int(row['bytes']) / float(row['lanes_seconds']) / 1e9)})"


def cpu_of(row):
    """CPU seconds per gigabyte, or the CPU time of a small input."""
    if row and int(row["bytes"]) < MI:
        return duration(float(row["cpu_seconds"]))
    return f"{float(row['cpu_seconds']) / int(row['bytes']) * 1e9:.2f}" if row else ""


def time_of(row):
    return duration(float(row["seconds"])) if row else ""


def ratio(row, base):
    return f"{significant(row['rate'] / base['rate'])} ×" if row and base else ""


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
