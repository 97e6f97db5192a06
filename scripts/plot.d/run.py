"""The results of a run of scripts/bench, and how tables and pictures show them."""

import csv
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../bench.d"))
from units import words_of

OURS, RIVALS = "gpuaes-stream", ("openssl", "age", "rage", "gpg")
MIN_RUNS = 5  # results of fewer runs are not shown
MODES = {"ctr": "counter mode", "seal": "sealing", "open": "opening"}


def read(folder, name):
    """The rows of a table. There are none if it was not measured."""
    path = os.path.join(folder, f"{name}.csv")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return [{**row, "size": words_of(int(row["bytes"]))} if "bytes" in row else row for row in csv.DictReader(file)]


class Run:
    def __init__(self, folder):
        self.run, self.programs, self.ciphers, self.links, self.limits, self.kernels, self.keys, self.trace = (
            read(folder, name) for name in ("run", "programs", "ciphers", "links", "limits", "kernels", "keys", "trace"))
        if not self.run or self.fact("quick"):
            raise SystemExit(f"plot: {folder} {'has results of scripts/bench --quick' if self.run else 'has no run.csv'}")
        self.programs = [row for row in self.programs if int(row["runs"]) >= MIN_RUNS]
        for row in self.programs:
            row["on"] = row["lanes"].split(":")[0]
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


def is_with_rivals(row):
    """Whether this program had the lanes with which it is compared to others."""
    return row["lanes"] in ("", "cpu:1" if row["case"].endswith(", 1 CPU") else "auto")


def title_of(cipher):
    return cipher.upper() if cipher.startswith("aes-") else cipher.capitalize().replace("Chacha20-poly", "ChaCha20-Poly")


def significant(number):
    """Three digits; further ones vary from run to run."""
    number = float(number)
    return f"{number:.0f}" if number >= 99.5 else f"{number:.1f}" if number >= 9.95 else f"{number:.2f}"
