"""Pictures of scripts/bench: this program next to others, and CPU and CUDA lanes by number of CPUs. Bars and points are
medians, and the thin lines reach from the slowest to the fastest run."""

import re

from inputs import group, points
from results import MIN_RUNS, OURS, RIVALS, lanes_of, one_digit
from style import BLACK, BLUE, GRAY, GREEN, RATE, SKY, VERMILION, entitle, label_lines, plain, significant, size_name, title_of

COLUMNS = {"part", "case", "program", "cipher", "format", "action", "lanes", "bytes", "runs", "seconds", "min_seconds", "max_seconds"}
LANES = {"cpu": ("CPU lanes", SKY), "cuda": ("-l cuda:0", GREEN), "auto": ("-l auto", BLACK)}
COPIES = ("cat", "cp, sync", "dd iflag=direct")
KINDS = {"copy only": GRAY, OURS: BLUE, "other programs": VERMILION}
UNAUTHENTICATED = ("raw", "openssl")  # our format, another program
CAPTION = f"{RATE}; thin lines: from the slowest to the fastest run; //: the bar is cut"


def draw(plt, rows, save, _):
    rows = points(rows, ("part", "case", "program", "cipher", "format", "action", "lanes"),
                  ("bytes", "runs", "seconds", "min_seconds", "max_seconds"))
    rows = [row for row in rows if row["runs"] >= MIN_RUNS]
    for row in rows:
        row["rate"], row["low"], row["high"] = (row["bytes"] / row[name] / 1e9 for name in ("seconds", "max_seconds", "min_seconds"))
    panels = [(title, bars_of(rows_of(rows, part, case))) for title, part, case in PANELS]
    panels = [(title, bars) for title, bars in panels if len(bars) > 1]
    if panels:
        save(draw_rivals(plt, panels), "rivals")
    by_cpus = [row for row in rows if row["part"] == "cpus"]
    if by_cpus:
        save(draw_cpus(plt, by_cpus), "cpus")


# The title of a panel, the part of the results, and a pattern for the case; what most people do comes first.
PANELS = (("file to file, disk", "output", r"disk, \d"), ("file to file, disk, uncached input", "output", "disk, cold"),
          ("between two pipes", "pipe", ""), ("uncached file to /dev/null", "cold", ""),
          ("cached file to /dev/null, 1 CPU", "rivals", "1 GiB, 1 CPU"), ("cached file to /dev/null, all CPUs", "rivals", r"1 GiB, (?!1 CPU)"))


def rows_of(rows, part, case):
    return [row for row in rows if row["part"] == part and re.match(case, row["case"])]


def bars_of(rows):
    """(name, row, kind) of copies, then of encryption by this program and by others."""
    bars = []
    for row in rows:
        if row["program"] == OURS and row["action"] == "encrypt" and row["lanes"] == lanes_of(row["case"]) and row["cipher"] != "kuznyechik":
            bars.append((f"{OURS}, {row['format']}", row, OURS))
        elif row["program"] in RIVALS and row["action"] == "encrypt":
            bars.append((row["program"], row, "other programs"))
        elif row["program"] in COPIES:
            bars.append((row["program"], row, "copy only"))
    return sorted(bars, key=lambda bar: list(KINDS).index(bar[2]))


def draw_rivals(plt, panels):
    """All panels have the same scale. Bars of a panel that is much faster than the others are cut, which is shown."""
    count = (len(panels) + 1) // 2
    heights = [1.6 + max(len(bars) for _, bars in panels[2 * line:2 * line + 2]) for line in range(count)]
    figure, axes = plt.subplots(count, 2, figsize=(10, 0.23 * sum(heights) + 1.1), squeeze=False, gridspec_kw={"height_ratios": heights})
    limit = limit_of(panels)
    for axis, (title, bars) in zip(axes.flat, panels):
        for y, (name, row, kind) in enumerate(bars):
            draw_bar(axis, y, row, KINDS[kind], any(word in name for word in UNAUTHENTICATED), limit)
        axis.set_yticks(range(len(bars)), [plain(name) for name, _, _ in bars])
        axis.invert_yaxis()
        axis.tick_params(axis="y", length=0)
        axis.set_title(plain(f"{size_name(bars[0][1]['bytes'])} {title}"))
        axis.set_xlim(0, limit)
    for axis in axes.flat[len(panels):]:
        axis.set_visible(False)
    figure.supxlabel(CAPTION, fontsize=9)
    entitle(figure, conclusion_of(panels))
    handles = [plt.Rectangle((0, 0), 1, 1, label=name, facecolor=color) for name, color in KINDS.items()]
    handles.append(plt.Rectangle((0, 0), 1, 1, label="not authenticated", facecolor="white", edgecolor=BLACK))
    axes.flat[len(panels) - 1].legend(handles=handles, loc="lower right", fontsize=8, frameon=False)
    return figure


def limit_of(panels):
    """The end of the common scale."""
    fastest = sorted(max(row["high"] for _, row, _ in bars) for _, bars in panels)
    return 1.03 * (fastest[-2] if len(fastest) > 1 and fastest[-1] > 2 * fastest[-2] else fastest[-1])


def draw_bar(axis, y, row, color, is_hollow, limit):
    """A bar with its value at its beginning, where no line covers it."""
    face, ink = ("white", color) if is_hollow else (color, "white")
    axis.barh(y, min(row["rate"], limit), height=0.8, facecolor=face, edgecolor=color)
    axis.text(0.01 * limit, y, significant(row["rate"]), va="center", fontsize=8, color=ink)
    if row["rate"] > limit:
        axis.text(0.94 * limit, y, "//", va="center", ha="center", fontsize=12, color=ink)
    else:
        axis.plot([row["low"], row["high"]], [y, y], color=BLACK, linewidth=0.8)


def conclusion_of(panels):
    """How this program compares with age, from the panels that have both."""
    both = [[next((row["rate"] for name, row, _ in bars if name == wanted), None) for wanted in (f"{OURS}, age", "age")] for _, bars in panels]
    ratios = sorted(ours / age for ours, age in both if ours and age)
    if not ratios:
        return "Rates of encryption"
    span = dict.fromkeys(map(one_digit, (ratios[0], ratios[-1])))
    return f"{OURS} encrypts age files {' to '.join(span)} times as fast as age"


def draw_cpus(plt, rows):
    """A panel for each cipher and format; a line for CPU lanes, CUDA lanes and -l auto."""
    panels = group(rows, "cipher", "format")
    figure, axes = plt.subplots(1, len(panels), figsize=(3.4 * len(panels), 3.4), squeeze=False, sharey=True)
    entitle(figure, rank_of_auto([lines_of(here) for here in panels.values()]))
    for axis, ((cipher, form), here) in zip(axes.flat, panels.items()):
        lines, ends = lines_of(here), []
        axis.set_yscale("log", base=2)
        axis.yaxis.set_major_formatter("{x:g}")
        for name, line in lines.items():
            words, color = LANES[name]
            counts = sorted(line)
            rates = [line[count]["rate"] for count in counts]
            errors = [[line[count]["rate"] - line[count]["low"] for count in counts], [line[count]["high"] - line[count]["rate"] for count in counts]]
            axis.errorbar(counts, rates, yerr=errors, color=color, marker="o", markersize=3, linewidth=1.6, elinewidth=0.8, capsize=2)
            ends.append((counts[-1], rates[-1], words, color))
        counts = sorted({count for line in lines.values() for count in line})
        axis.set_xscale("log", base=2)
        axis.set_xticks(counts, counts)
        axis.minorticks_off()
        axis.set_xlabel("CPUs")
        axis.grid(True, alpha=0.3)
        axis.set_title(f"{title_of(cipher)}, {form}, {size_name(here[0]['bytes'])}{faster_of(lines)}")
        label_lines(axis, ends)
    axes[0, 0].set_ylabel(f"{RATE}, logarithmic")
    return figure


def lines_of(rows):
    """{lanes: {number of CPUs: row}}"""
    lines = {}
    for row in rows:
        count = int(re.match(r"\d+", row["case"]).group())
        lines.setdefault(row["lanes"].split(":")[0], {})[count] = row
    return lines


def rank_of_auto(panels):
    """How -l auto compares with the faster of its choices, in the panels that have all of them."""
    shares = [row["rate"] / max(lines[name][count]["rate"] for name in ("cpu", "cuda"))
              for lines in panels if lines.keys() == LANES.keys() for count, row in lines["auto"].items()]
    return (f"-l auto reaches at least {min(shares):.0%} of the rate of CPUs or of a GPU, whichever is faster" if shares
            else "CPU lanes by number of CPUs")


def faster_of(lines):
    """The second line of a panel's title."""
    if not {"cpu", "cuda"} <= lines.keys():
        return ""
    counts = [count for count in lines["cpu"] if lines["cuda"][count]["rate"] > lines["cpu"][count]["rate"]]
    return f"\na GPU is faster with up to {max(counts)} CPU{'s' * (max(counts) > 1)}" if counts else "\nCPUs are faster than a GPU"
