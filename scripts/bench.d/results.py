"""The results of a run: tables on the terminal while it runs, and CSV files."""

import csv
import os

# A row for each program and input that was measured. Programs that took turns have the same `case`.
PROGRAM_COLUMNS = ["part", "case", "program", "cipher", "format", "action", "lanes", "bytes", "runs", "seconds",
                   "min_seconds", "cpu_seconds", "lanes_seconds"]


def number(value, digits=2):
    return f"{value:.{digits}f}" if value else "-"


def print_table(headings, rows):
    """The first column is aligned left, the others right."""
    widths = [max(len(row[i]) for row in [headings, *rows]) for i in range(len(headings))]
    for row in [headings, *rows]:
        fields = [row[0].ljust(widths[0]), *(field.rjust(width) for field, width in zip(row[1:], widths[1:]))]
        print(("  " + "  ".join(fields)).rstrip(), flush=True)


class Results:
    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.tables = {}  # rows, by the name of the table
        self.facts = []  # (name, value) for run.csv
        self.failures = []

    def heading(self, text):
        print(f"\n{text}", flush=True)

    def describe(self, facts):
        for name, value in facts:
            print(f"{name:10} {value}", flush=True)
            self.facts.append((name, value))

    def left_out(self, text):
        if ("left out", text) not in self.facts:
            print(f"  left out: {text}", flush=True)
            self.facts.append(("left out", text))

    def failed(self, text):
        print(f"  failed: {text}", flush=True)
        self.failures.append(text)
        self.facts.append(("failed", text))

    def add(self, table, rows):
        if rows:
            self.tables.setdefault(table, []).extend(rows)

    def compare(self, part, case, contenders, size, *baselines):
        """Keeps a row for each contender, and prints its rate and its speed relative to each baseline."""
        rows = []
        for c in contenders:
            if c.failed:
                self.failed(f"{part}, {case}, {c.name}: {c.failed}")
            if not c.has_run():
                continue
            self.add("programs", [{"part": part, "case": case, **c.row(), "bytes": size}])
            gigabytes = size / 1e9
            rate = f"{gigabytes / c.wall:.2f}" if size >= 1 << 20 else f"{c.wall * 1e3:.2f} ms"
            rows.append([c.name, rate, number(c.median("cpu") / gigabytes, 3) if size >= 1 << 20 else "-",
                         *(number(base.wall / c.wall if base and base.has_run() else None) for base in baselines)])
        if rows:
            print_table([case, "GB/s", "CPU s/GB", *(f"x {base.name}" if base else "" for base in baselines)], rows)

    def write(self):
        for name, rows in self.tables.items():
            with self.create(name) as file:
                columns = PROGRAM_COLUMNS if name == "programs" else list(rows[0])
                writer = csv.DictWriter(file, columns, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
        with self.create("run") as file:
            csv.writer(file, lineterminator="\n").writerows([("name", "value"), *self.facts])

    def create(self, name):
        return open(os.path.join(self.folder, f"{name}.csv"), "w", encoding="utf-8", newline="")
