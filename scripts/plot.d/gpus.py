"""The table and the picture of rates by number of GPUs, next to those of a program that only reads and copies."""

from inputs import group
from results import MI, both_rates, cpu_of, lanes_rate, markdown, named, significant, size_of, time_of, with_machine
from style import COLORS, GRAY, RATE, count_axis, label_lines

FORMS = {"raw": ("raw", "encrypt"), "sealed": ("sealed", "encrypt"), "decryption": ("sealed", "decrypt")}
STEPS = {"copies alone": "in+out", "reading alone": "read", "reading and copies": "read+in+out"}


class Gpus:
    """The rows of this part: those of the large file by case, whose text after the size is empty for the default, and
    those of the small one, whose time shows how long CUDA takes to start."""

    def __init__(self, run):
        rows = [{**row, "gpus": row["lanes"].count("cuda")} for row in run.of_part("gpus")]
        large = [row for row in rows if int(row["bytes"]) > MI]
        self.cases = {case.partition(", ")[2]: here for (case,), here in group(large, "case").items()}
        self.default = self.cases.get("", [])
        self.small = [row for row in rows if int(row["bytes"]) <= MI]
        self.counts = sorted({row["gpus"] for row in rows})
        self.transfer = run.transfer

    def row(self, rows, form, count):
        kind, action = FORMS[form]
        return named(rows, gpus=count, format=kind, action=action)

    def best_transfer(self, name, count):
        """The best rate with any number of streams and any size of a chunk; None if not measured."""
        rates = [float(row["gb_per_s"]) for row in self.transfer
                 if row["steps"] == STEPS[name] and int(row["devices"]) == count]
        return max(rates, default=None)

    def share_of_copies(self, count):
        row, copies = self.row(self.default, "sealed", count), self.best_transfer("copies alone", count)
        return f"{lanes_rate(row) / copies:.0%}" if row and copies and row["lanes_seconds"] else ""


def gpus_table(run):
    gpus = Gpus(run)

    def line(name, cell):
        return [name, *(cell(count) for count in gpus.counts)]

    def transfer(name):
        return lambda count: significant(rate) if (rate := gpus.best_transfer(name, count)) else ""

    def rates(rows, form):
        return lambda count: both_rates(gpus.row(rows, form, count))

    lines = [line(name, transfer(name)) for name in STEPS]
    lines += [line(form, rates(gpus.default, form)) for form in FORMS]
    lines += [line(f"sealed, {case}", rates(rows, "sealed")) for case, rows in gpus.cases.items() if case]
    lines += [line("sealed, % of copies alone", gpus.share_of_copies),
              line("sealed, CPU s/GB", lambda count: cpu_of(gpus.row(gpus.default, "sealed", count))),
              line("sealed, 1 KiB", lambda count: time_of(gpus.row(gpus.small, "sealed", count)))]
    headings = [f"{count} GPU{'s' * (count > 1)}" if count else "`-l cpu`" for count in gpus.counts]
    table = markdown([f"GB/s, {size_of(gpus.default)}", *headings], [each for each in lines if any(each[1:])])
    return with_machine(run, table)


TABLES = {"gpus": gpus_table}


def draw(plt, run, save):
    """A line for each form, without the startup and shutdown of CUDA, and one for each limit."""
    gpus = Gpus(run)
    counts = [count for count in gpus.counts if count > 0]
    if not gpus.default or not counts:
        return
    lines = [(form, color, "-", lambda count, form=form: rate_if(gpus.row(gpus.default, form, count)))
             for form, color in zip(FORMS, COLORS)]
    lines += [(name, GRAY, style, lambda count, name=name: gpus.best_transfer(name, count))
              for name, style in (("copies alone", "--"), ("reading and copies", ":"))]
    figure, axis = plt.subplots(figsize=(5, 3.2))
    ends = []
    for name, color, style, rate in lines:
        line = {count: value for count in counts if (value := rate(count))}
        if line:
            axis.plot(line.keys(), line.values(), color=color, linestyle=style, marker="o", markersize=3, linewidth=1.6)
            ends.append((max(line), line[max(line)], name, color))
    axis.set_ylim(bottom=0)
    count_axis(axis, counts, "GPUs")
    axis.set_ylabel(RATE)
    axis.set_title(f"AES-256, {size_of(gpus.default)} to /dev/null, without startup")
    label_lines(axis, ends)
    save(figure, "gpus")


def rate_if(row):
    return lanes_rate(row) if row and row["lanes_seconds"] else None
