"""What is printed, and kept for BENCH_JSON: tables, and the figures that are asked for."""

import json


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def print_table(headings, rows):
    """The first column to the left, the others to the right; a row of one field is a remark."""
    rows = [[str(field) for field in row] for row in rows]
    whole = [row for row in [headings, *rows] if len(row) == len(headings)]
    widths = [max(len(row[i]) for row in whole) for i in range(len(headings))]
    for row in [headings, *rows]:
        fields = [row[0].ljust(widths[0]), *(field.rjust(width) for field, width in zip(row[1:], widths[1:]))]
        print(("  " + "  ".join(fields)).rstrip())


class Report:
    def __init__(self):
        self.results, self.figures, self.failures = {}, [], []

    def heading(self, text):
        print(f"\n{text}", flush=True)

    def skip(self, text):
        print(f"  skipped: {text}")

    def keep(self, part, name, value):
        self.results.setdefault(part, {})[name] = value

    def failure(self, text):
        print(f"  failed: {text}")
        self.failures.append(text)

    def rates(self, part, title, contenders, size, ratios=()):
        """A row for each contender: gigabytes a second of the whole process, of its own clock, and while its lanes
        had work; CPU seconds a GB; and `ratios`, pairs of a heading and what makes one of a contender."""
        gigabytes = size / 1e9
        rows = []
        for c in contenders:
            if c.failed:
                rows.append([f"{c.name}: failed: {c.failed}"])
                self.failures.append(f"{c.name}: {c.failed}")
                continue
            clocks = [number(gigabytes / seconds if seconds else None) for seconds in map(c.median, ("wall", "inside", "lanes"))]
            cpu = number(c.median("cpu") / gigabytes, 3)
            rows.append([c.name, *clocks, cpu, *(number(ratio(c)) for _, ratio in ratios)])
        print_table([title, "GB/s", "inside", "lanes", "CPU s/GB", *(f"x {heading}" for heading, _ in ratios)], rows)
        self.keep(part, title, {"bytes": size, "contenders": [c.to_json() for c in contenders]})

    def figure(self, name, measured, asked, at_least=True):
        """One that the goals ask for. None: not measured. What is printed is what is compared."""
        measured = None if measured is None else round(measured, 2)
        good = measured is not None and (measured >= asked if at_least else measured <= asked)
        self.figures.append({"name": name, "measured": measured, "asked": asked, "at_least": at_least, "ok": good})

    def unmeasured(self, name, why):
        self.figures.append({"name": name, "measured": None, "why": why})

    def print_figures(self, parts_left_out):
        self.heading("figures asked for")
        rows = []
        for figure in self.figures:
            if figure["measured"] is None:
                rows.append([figure["name"], "-", "", f"not measured: {figure.get('why', 'see above')}"])
            else:
                sign = ">=" if figure["at_least"] else "<="
                rows.append([figure["name"], number(figure["measured"]), f"{sign} {figure['asked']:.2f}",
                             "ok" if figure["ok"] else "below" if figure["at_least"] else "above"])
        print_table(["", "measured", "asked", ""], rows)
        if parts_left_out:
            print(f"  parts that were left out: {', '.join(parts_left_out)}")

    def write_json(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"results": self.results, "figures": self.figures, "failures": self.failures}, file, indent=1)
            file.write("\n")
