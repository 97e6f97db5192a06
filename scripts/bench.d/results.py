"""The results of a run: tables on the terminal while it runs, and CSV files."""

import csv
import os

# A row for each program and input that was measured. Programs that took turns have the same `case`.
PROGRAM_COLUMNS = ["part", "case", "program", "cipher", "format", "action", "lanes", "bytes", "runs", "seconds",
                   "min_seconds", "max_seconds", "cpu_seconds", "lanes_seconds", "cached_bytes", "command"]
OF_ONE_CALL = ("date", "command", "left out", "failed")  # facts that may differ between calls for one folder


class Results:
    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.part = None  # which is being measured
        self.tables = {}  # rows, by the name of the table
        self.facts = []  # (name, value) for run.csv
        self.failures = []

    def heading(self, text):
        print(f"\n{text}", flush=True)

    def describe(self, facts):
        for name, value in facts:
            print(f"{name:10} {value}", flush=True)
            self.facts.append((name, value))

    def keep_other_parts(self, parts):
        """Keeps what the folder has from an earlier call, without these parts. It must be of the same machine and
        programs."""
        earlier = [(row["name"], row["value"]) for row in self.read("run")]
        if not earlier:
            return
        old, new = ([fact for fact in facts if fact[0] not in OF_ONE_CALL] for facts in (earlier, self.facts))
        if old != new:
            different = ", ".join(dict.fromkeys(name for name, _ in [*old, *new] if
                                                [fact for fact in old if fact[0] == name] != [fact for fact in new if fact[0] == name]))
            raise SystemExit(f"bench: the results in {self.folder} are of another machine, program or size: {different}")
        earlier = [(name, value) for name, value in earlier if value.partition(":")[0] not in parts or name not in OF_ONE_CALL]
        self.facts = earlier + [fact for fact in self.facts if fact not in earlier]
        for file in os.listdir(self.folder):
            name, ending = os.path.splitext(file)
            if ending == ".csv" and name != "run":
                self.add_rows(name, [row for row in self.read(name) if row["part"] not in parts])

    def read(self, name):
        path = os.path.join(self.folder, f"{name}.csv")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def left_out(self, text):
        self.note("left out", text)

    def failed(self, text):
        self.failures.append(text)
        self.note("failed", text)

    def note(self, kind, text):
        fact = (kind, f"{self.part}: {text}" if self.part else text)
        if fact not in self.facts:
            print(f"  {kind}: {text}", flush=True)
            self.facts.append(fact)

    def add(self, table, rows):
        self.add_rows(table, [{"part": self.part, **row} for row in rows])

    def add_rows(self, table, rows):
        if rows:
            self.tables.setdefault(table, []).extend(rows)

    def compare(self, case, contenders, size):
        """Keeps a row for each contender, and prints its time, its rate, and how much its runs vary."""
        print(f"{case}:", flush=True)
        for c in contenders:
            if c.failed:
                self.failed(f"{case}, {c.name}: {c.failed}")
            if c.has_run():
                self.add("programs", [{"case": case, **c.row(), "bytes": size}])
                wall, times = c.median("wall"), c.times["wall"]
                print(f"  {c.name:40} {wall:9.3f} s {size / wall / 1e9:8.2f} GB/s  {(max(times) - min(times)) / wall:4.0%} spread", flush=True)

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
