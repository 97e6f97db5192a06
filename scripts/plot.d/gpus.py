"""The table and the picture of rates by number of GPUs, next to those of a program that only reads and copies."""

from inputs import group
from results import MI, OURS, both_rates, lanes_rate, markdown, significant, size_of, time_of
from style import COLORS, GRAY, RATE, label_lines

FORMS = {"raw": ("raw", "encrypt"), "sealed": ("sealed", "encrypt"), "decryption": ("sealed", "decrypt")}
STEPS = {"copies alone": "in+out", "reading alone": "read", "reading and copies": "read+in+out"}


def gpus_of(row):
    return row["lanes"].count("cuda")


def rows_by_case(run):
    """The rows of each case, by its text after the size of the file, which is empty for the default. Without the small
    file, whose time shows how long CUDA takes to start."""
    large = [row for row in run.of_part("gpus") if int(row["bytes"]) > MI]
    return {case.partition(", ")[2]: here for (case,), here in group(large, "case").items()}


def row_of(rows, form, count):
    return next((row for row in rows if gpus_of(row) == count and (row["format"], row["action"]) == FORMS[form]), None)


def best_transfer(run, steps, count):
    """The best rate of any number of streams and size of a chunk."""
    return max((float(row["gb_per_s"]) for row in run.transfer if row["steps"] == steps and int(row["devices"]) == count),
               default=None)


def rate_or_empty(rate):
    return significant(rate) if rate else ""


def gpus_table(run):
    cases = rows_by_case(run)
    default = cases.get("", [])
    counts = sorted({gpus_of(row) for row in run.of_part("gpus")} - {0})
    rows = [[name, *(rate_or_empty(best_transfer(run, steps, count)) for count in counts)] for name, steps in STEPS.items()]
    for case, here in cases.items():
        of_case = [[", ".join(filter(None, (form, case))), *(both_rates(row_of(here, form, count)) for count in counts)]
                   for form in FORMS]
        rows += [row for row in of_case if any(row[1:])]
    rows.append(["sealed, of copies alone", *(share_of_copies(run, row_of(default, "sealed", count), count) for count in counts)])
    rows.append(["sealed, CPU s/GB", *(cpu_per_gigabyte(row_of(default, "sealed", count)) for count in counts)])
    small = [row for row in run.of_part("gpus") if int(row["bytes"]) <= MI]
    rows.append(["sealed, 1 MiB", *(time_of(row_of(small, "sealed", count)) for count in counts)])
    heading = f"GB/s, {size_of(default)}" if default else ""
    return markdown([heading, *(f"{count} GPU{'s' * (count > 1)}" for count in counts)], rows)


def share_of_copies(run, row, count):
    copies = best_transfer(run, STEPS["copies alone"], count)
    return f"{lanes_rate(row) / copies:.0%}" if row and copies else ""


def cpu_per_gigabyte(row):
    return f"{float(row['cpu_seconds']) / int(row['bytes']) * 1e9:.2f}" if row else ""


TABLES = {"gpus": gpus_table}


def draw(plt, run, save):
    """A line for each form, without the startup and shutdown of CUDA, and one for each limit."""
    default = rows_by_case(run).get("", [])
    counts = sorted({gpus_of(row) for row in default} - {0})
    if not counts:
        return
    lines = {form: {count: lanes_rate(row_of(default, form, count)) for count in counts if row_of(default, form, count)}
             for form in FORMS}
    limits = {name: {count: rate for count in counts if (rate := best_transfer(run, STEPS[name], count))}
              for name in ("copies alone", "reading and copies")}
    figure, axis = plt.subplots(figsize=(5, 3.2))
    ends = [draw_line(axis, name, line, color, "-") for color, (name, line) in zip(COLORS, lines.items()) if line]
    ends += [draw_line(axis, name, line, GRAY, style) for style, (name, line) in zip(("--", ":"), limits.items()) if line]
    axis.set_ylim(bottom=0)
    axis.set_xscale("log", base=2)
    axis.set_xticks(counts, [str(count) for count in counts])
    axis.minorticks_off()
    axis.set_xlabel("GPUs")
    axis.set_ylabel(RATE)
    axis.set_title(f"AES-256, {size_of(default)} to /dev/null, without startup")
    axis.grid(True, alpha=0.3)
    label_lines(axis, ends)
    save(figure, "gpus")


def draw_line(axis, name, line, color, style):
    """Returns its end, for label_lines()."""
    axis.plot(line.keys(), line.values(), color=color, linestyle=style, marker="o", markersize=3, linewidth=1.6)
    last = max(line)
    return last, line[last], name, color
