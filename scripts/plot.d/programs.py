"""Pictures of scripts/bench: the filter next to other programs, and CPU and CUDA lanes by number of CPUs."""

import re

from inputs import group, points
from results import OURS
from style import COLORS, GRAY, RATE, count_axis, label_lines, plain, significant, title_of

COLUMNS = {"part", "case", "program", "cipher", "format", "action", "lanes", "bytes", "seconds"}
PARTS = {"file": "file to /dev/null", "sizes": "file to /dev/null", "pipe": "between two pipes",
         "age": "age format", "output": "file to file"}


def draw(plt, rows, save):
    rows = points(rows, ("part", "case", "program", "cipher", "format", "action", "lanes"), ("bytes", "seconds"))
    for row in rows:
        row["gb_per_s"] = row["bytes"] / row["seconds"] / 1e9
    panels = [(part, case, bars) for (part, case), here in group(rows, "part", "case").items() if part in PARTS
              for bars in [bars_of(here)] if len(bars) > 1 and here[0]["bytes"] > 1 << 20]
    if panels:
        save(draw_rivals(plt, panels), "rivals")
    by_cpus = [row for row in rows if row["part"] == "cpus"]
    if by_cpus:
        save(draw_cpus(plt, by_cpus), "cpus")


def bars_of(rows):
    """(name, rate, color) of encryption with -l auto, and of rivals and copies."""
    bars = []
    for row in rows:
        if row["program"] == OURS and row["action"] == "encrypt" and row["lanes"] == "auto":
            name = {"aes-256": row["format"], "kuznyechik": f"{row['format']}, Kuznyechik"}.get(row["cipher"], OURS)
            bars.append((name, row["gb_per_s"], COLORS[0]))
        elif row["program"] not in (OURS, "gpuaes-bench read", "gpuaes-bench copy", "cat", "pv") and row["action"] != "decrypt":
            bars.append((row["program"], row["gb_per_s"], COLORS[1] if row["action"] == "encrypt" else GRAY))
    return bars if any(color != COLORS[0] for _, _, color in bars) else []


def draw_rivals(plt, panels):
    half = (len(panels) + 1) // 2
    columns = [panels[:half], panels[half:]] if len(panels) > 1 else [panels]
    figure = plt.figure(figsize=(5 * len(columns), 0.22 * max(sum(0.8 + len(bars) + 1.2 for _, _, bars in column)
                                                            for column in columns)))
    parts = figure.subfigures(1, len(columns), squeeze=False)
    for part, column in zip(parts.flat, columns):
        heights = [0.8 + len(bars) for _, _, bars in column]
        for axis, (name, case, bars) in zip(part.subplots(len(column), 1, squeeze=False, gridspec_kw={"height_ratios": heights}).flat, column):
            ys = range(len(bars))
            axis.barh(ys, [rate for _, rate, _ in bars], color=[color for _, _, color in bars], height=0.8)
            for y, (_, rate, _) in zip(ys, bars):
                axis.text(rate, y, f" {significant(rate)}", va="center", fontsize=8)
            axis.set_yticks(ys, [plain(text) for text, _, _ in bars])
            axis.invert_yaxis()
            axis.set_title(plain(f"{PARTS[name]}, {case}, {RATE}"))
            axis.set_xlim(right=1.12 * max(rate for _, rate, _ in bars))
            axis.set_xticks([])
            axis.spines["bottom"].set_visible(False)
            axis.tick_params(axis="y", length=0)
    return figure


def draw_cpus(plt, rows):
    """A panel for each cipher and format; a line for CPU lanes, CUDA lanes and -l auto."""
    panels = group(rows, "cipher", "format")
    figure, axes = plt.subplots(1, len(panels), figsize=(3.4 * len(panels), 3), squeeze=False)
    for axis, ((cipher, form), here) in zip(axes.flat, panels.items()):
        lines = {}
        for row in here:
            count = int(re.match(r"\d+", row["case"]).group())
            lines.setdefault(row["lanes"].split(":")[0], {})[count] = row["gb_per_s"]
        ends = []
        axis.set_ylim(0, 1.1 * max(row["gb_per_s"] for row in here))
        for color, (name, line) in zip(COLORS, lines.items()):
            counts = sorted(line)
            axis.plot(counts, [line[count] for count in counts], color=color, marker="o", markersize=3, linewidth=1.6)
            ends.append((counts[-1], line[counts[-1]], f"-l {name}", color))
        count_axis(axis, sorted({count for line in lines.values() for count in line}), "CPUs")
        axis.set_title(f"{title_of(cipher)}, {form}")
        label_lines(axis, ends)
    axes[0, 0].set_ylabel(RATE)
    return figure
