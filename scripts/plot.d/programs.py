"""Pictures of scripts/bench: this program next to others, and CPU and CUDA lanes by number of CPUs. Bars and points are
medians, and the thin lines reach from the slowest to the fastest run."""

import re

from inputs import group, points
from results import MIN_RUNS, OURS, RIVALS, lanes_of
from style import COLORS, GRAY, RATE, label_lines, plain, significant, size_name, title_of

COLUMNS = {"part", "case", "program", "cipher", "format", "action", "lanes", "bytes", "runs", "seconds", "min_seconds", "max_seconds"}
LANES = {"cpu": "CPU lanes", "cuda": "-l cuda:0", "auto": "-l auto"}
COPIES = ("cat", "cp, sync", "dd iflag=direct")
KINDS = {OURS: COLORS[0], "other programs": COLORS[1], "copy only": GRAY}


def draw(plt, rows, save, _):
    rows = points(rows, ("part", "case", "program", "cipher", "format", "action", "lanes"),
                  ("bytes", "runs", "seconds", "min_seconds", "max_seconds"))
    rows = [row for row in rows if row["runs"] >= MIN_RUNS]
    for row in rows:
        row["rate"], row["low"], row["high"] = (row["bytes"] / row[name] / 1e9 for name in ("seconds", "max_seconds", "min_seconds"))
    panels = [(title, bars) for (part, case), here in group(rows, "part", "case").items()
              for title in [title_of_panel(part, case)] for bars in [bars_of(here)] if title and len(bars) > 1]
    if panels:
        save(draw_rivals(plt, panels), "rivals")
    by_cpus = [row for row in rows if row["part"] == "cpus"]
    if by_cpus:
        save(draw_cpus(plt, by_cpus), "cpus")


def title_of_panel(part, case):
    """None for cases that have no panel."""
    if part == "rivals":
        return f"File to /dev/null: {case}" if case.startswith("1 GiB") else None
    return {"pipe": f"Between two pipes: {case}", "cold": f"Cold file to /dev/null: {case}", "output": f"File to file: {case}"}.get(part)


def bars_of(rows):
    """(name, row, color) of copies, then of encryption by this program and by others."""
    bars = []
    for row in rows:
        if row["program"] == OURS and row["action"] == "encrypt" and row["lanes"] == lanes_of(row["case"]) and row["cipher"] != "kuznyechik":
            bars.append((f"{OURS}, {row['format']}", row, KINDS[OURS]))
        elif row["program"] in RIVALS and row["action"] == "encrypt":
            bars.append((row["program"], row, KINDS["other programs"]))
        elif row["program"] in COPIES:
            bars.append((row["program"], row, KINDS["copy only"]))
    return sorted(bars, key=lambda bar: [KINDS["copy only"], KINDS[OURS], KINDS["other programs"]].index(bar[2]))


def draw_rivals(plt, panels):
    """Each panel has a scale of its own, because one CPU and all CPUs differ too much for a common one."""
    count = (len(panels) + 1) // 2
    heights = [1.6 + max(len(bars) for _, bars in panels[2 * line:2 * line + 2]) for line in range(count)]
    figure, axes = plt.subplots(count, 2, figsize=(10, 0.23 * sum(heights) + 0.8), squeeze=False, gridspec_kw={"height_ratios": heights})
    for axis, (title, bars) in zip(axes.flat, panels):
        ys = range(len(bars))
        rates = [row["rate"] for _, row, _ in bars]
        axis.barh(ys, rates, color=[color for _, _, color in bars], height=0.8, ecolor="black", error_kw={"linewidth": 0.8},
                  xerr=[[row["rate"] - row["low"] for _, row, _ in bars], [row["high"] - row["rate"] for _, row, _ in bars]])
        for y, (_, row, _) in zip(ys, bars):
            axis.text(row["high"], y, f" {significant(row['rate'])}", va="center", fontsize=8)
        axis.set_yticks(ys, [plain(name) for name, _, _ in bars])
        axis.invert_yaxis()
        axis.tick_params(axis="y", length=0)
        axis.set_title(plain(title))
        axis.set_xlim(0, 1.12 * max(row["high"] for _, row, _ in bars))
        axis.set_xlabel(RATE)
    for axis in axes.flat[len(panels):]:
        axis.set_visible(False)
    figure.suptitle("Encryption: medians (bars) and ranges (lines)", x=0.01, ha="left", fontsize=11)
    handles = [plt.Rectangle((0, 0), 1, 1, label=name, facecolor=color) for name, color in KINDS.items()]
    figure.legend(handles=handles, loc="upper right", ncol=len(handles), frameon=False)
    return figure


def draw_cpus(plt, rows):
    """A panel for each cipher and format; a line for CPU lanes, CUDA lanes and -l auto."""
    panels = group(rows, "cipher", "format")
    figure, axes = plt.subplots(1, len(panels), figsize=(3.4 * len(panels), 3.2), squeeze=False)
    for axis, ((cipher, form), here) in zip(axes.flat, panels.items()):
        lines = {}
        for row in here:
            count = int(re.match(r"\d+", row["case"]).group())
            lines.setdefault(row["lanes"].split(":")[0], {})[count] = row
        ends = []
        axis.set_yscale("log", base=2)
        axis.yaxis.set_major_formatter("{x:g}")
        for color, (name, line) in zip(COLORS, lines.items()):
            counts = sorted(line)
            rates = [line[count]["rate"] for count in counts]
            errors = [[line[count]["rate"] - line[count]["low"] for count in counts], [line[count]["high"] - line[count]["rate"] for count in counts]]
            axis.errorbar(counts, rates, yerr=errors, color=color, marker="o", markersize=3, linewidth=1.6, elinewidth=0.8, capsize=2)
            ends.append((counts[-1], rates[-1], LANES[name], color))
        counts = sorted({count for line in lines.values() for count in line})
        axis.set_xscale("log", base=2)
        axis.set_xticks(counts, counts)
        axis.minorticks_off()
        axis.set_xlabel("CPUs")
        axis.grid(True, alpha=0.3)
        axis.set_title(f"{title_of(cipher)}, {form}, {size_name(here[0]['bytes'])}")
        axis.set_ylabel(RATE)
        label_lines(axis, ends)
    figure.suptitle("A file in the page cache to /dev/null, by number of CPUs: medians and ranges (both axes logarithmic)", x=0.01, ha="left", fontsize=11)
    return figure
