"""The results of a run of scripts/bench, and how tables and pictures show them."""

import csv
import os
import re

OURS, RIVALS = "gpuaes-stream", ("openssl", "age", "rage", "gpg")
MI, GI = 1 << 20, 1 << 30
MIN_RUNS = 5  # results of fewer runs are not shown
MODES = {"ctr": "counter mode", "seal": "sealing", "open": "opening"}
TABLES = ("run", "programs", "ciphers", "links", "limits", "kernels", "keys", "trace")


class Run:
    """The results of one run. A table that was not measured is empty."""

    def __init__(self, folder):
        self.facts = []
        for name in TABLES:
            path = os.path.join(folder, f"{name}.csv")
            rows = []
            if os.path.exists(path):
                with open(path, encoding="utf-8", newline="") as file:
                    rows = list(csv.DictReader(file))
            setattr(self, name, rows)
        if not self.run or self.fact("quick"):
            raise SystemExit(f"plot: {folder} {'has results of scripts/bench --quick' if self.run else 'has no run.csv'}")
        self.programs = [row for row in self.programs if int(row["runs"]) >= MIN_RUNS]
        for row in self.programs:
            row["rate"], row["low"], row["high"] = (int(row["bytes"]) / float(row[name]) / 1e9
                                                    for name in ("seconds", "max_seconds", "min_seconds"))

    def facts_of(self, name):
        return [row["value"] for row in self.run if row["name"] == name]

    def fact(self, name):
        return next(iter(self.facts_of(name)), "")

    def cpu(self):
        return re.sub(r"\((R|TM)\)| Processor", "", self.fact("CPU"))

    def of_part(self, part):
        return [row for row in self.programs if row["part"] == part]

    def on_disk(self):
        """From a cached file to a file on a disk."""
        return [row for row in self.of_part("output") if row["case"].startswith("disk, ") and "cold" not in row["case"]]

    def on_cpus(self, count):
        """The rows with the largest file that other programs encrypted on this number of CPUs."""
        found = [row for row in self.of_part("rivals") if row["case"].partition(", ")[2].split()[0] == str(count)]
        return [row for row in found if int(row["bytes"]) == max(int(row["bytes"]) for row in found)]


def group(rows, *names):
    """Rows by their values of these names, in order of first appearance."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def named(rows, **values):
    return next((row for row in rows if all(row[name] == value for name, value in values.items())), None)


def lanes_of(case):
    """The lanes of this program in a case with other programs."""
    return "cpu:1" if case.endswith(", 1 CPU") else "auto"


def title_of(cipher):
    return cipher.upper() if cipher.startswith("aes-") else cipher.capitalize().replace("Chacha20-poly", "ChaCha20-Poly")


def size_name(size):
    for unit, word in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {word}"
    return f"{size:g} B"


def significant(number):
    """Three digits; further ones vary from run to run."""
    number = float(number)
    return f"{number:.0f}" if number >= 99.5 else f"{number:.1f}" if number >= 9.95 else f"{number:.2f}"


def one_digit(ratio):
    """1.5, 2 or 16."""
    return f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}".removesuffix(".0")
