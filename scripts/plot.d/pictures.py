"""The pictures of the documents. Bars and points are medians; thin lines reach from the slowest to the fastest run."""

import math
import os
import re

import matplotlib
from matplotlib import pyplot as plt

from run import MODES, OURS, RIVALS, group, is_with_rivals, named, significant, title_of, words_of

# Okabe and Ito's colors, which people with color blindness can tell apart. Each has one meaning in all pictures.
BLUE, SKY, GREEN, VERMILION, PURPLE, ORANGE = "#0072B2", "#56B4E9", "#009E73", "#D55E00", "#CC79A7", "#E69F00"
PALE_ORANGE, DARK_ORANGE, BLACK, GRAY, LIGHT = "#F5D79A", "#8A5F00", "#000000", "#666666", "#DDDDDD"
RATE = "GB/s"

matplotlib.use("Agg")
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "gpuaes", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
    "axes.titlesize": 10, "axes.titlelocation": "left", "figure.constrained_layout.use": True})


def draw_all(run, folder):
    """Draws what was measured."""
    pictures = {}
    for (cipher,), rows in group(run.kernels, "cipher").items():
        if cipher in ("aes-256", "kuznyechik") and run.links:
            link = float(named(run.links, what="both at once, each way", size="4 MiB")["value"])
            pictures[f"kernels-{cipher}"] = draw_kernels(rows, cipher, link)
            pictures[f"kernels-{cipher}-by-size"] = draw_by_size(rows, cipher, link)
    if named(run.programs, part="rivals", program="age"):
        pictures["programs-rivals"] = draw_rivals(run)
    if named(run.programs, part="cpus", lanes="cuda:0"):
        pictures["programs-cpus"] = draw_cpus(run.of_part("cpus"))
    if run.trace:
        pictures["trace-timeline"] = draw_timeline(run.trace)
    for name, figure in pictures.items():
        path = os.path.join(folder, f"{name}.svg")
        figure.savefig(path, dpi=150, bbox_inches="tight", metadata={"Title": figure.get_label(), "Date": None})
        print(path)


def entitle(figure, title):
    """The title is what the picture shows, and also that of the SVG file."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    figure.set_label(title)


def boxes(colors):
    return [plt.Rectangle((0, 0), 1, 1, label=name, facecolor=color) for name, color in colors.items()]


def log_axis(axis, ticks, names):
    axis.set_xscale("log", base=2)
    axis.set_xticks(ticks, names)
    axis.minorticks_off()
    axis.grid(True, alpha=0.3)
    axis.yaxis.set_major_formatter("{x:g}")


def label_lines(axis, ends):
    """Labels lines at their right ends, (x, y, name, color) each, without overlap."""
    axis.figure.draw_without_rendering()
    points, y = 72 / axis.figure.dpi, -math.inf
    for x, end, name, color in sorted(ends, key=lambda each: each[1]):
        own = axis.transData.transform((x, end))[1] * points
        y = max(own, y + 10)
        axis.annotate(name, (x, end), xytext=(6, y - own), textcoords="offset points", color=color, va="center", fontsize=8,
                      annotation_clip=False)


# Kernels ----------------------------------------------------------------------------------------------

# The first part of a variant's name is the kind of its tables, and the rest is their place. The other kernels have no place.
TABLES = {"sbox": ("S-box", PALE_ORANGE), "ttable1": ("one T-table", ORANGE), "ttable4": ("four T-tables", DARK_ORANGE), "ls": ("LS tables", ORANGE)}
KERNELS = {"bitslice": ("bitslice (gpuaes-stream)", BLUE), "ttable": ("ttable", PURPLE)}
PLACES = ["", "constant", "texture", "global", "shared"]


def kind_of(variant):
    return {**TABLES, **KERNELS}[variant.partition("-")[0]]


def place_of(variant):
    """A key to sort by, and what the place is called."""
    _, place, banks, threads = re.fullmatch(r"(\w+)-?(\w*?)(-banks)?(?:-(\d+)threads)?", variant).groups()
    name = f"{place} memory{', a copy per bank' if banks else ''}{f', {threads} threads per cipher block' if threads else ''}"
    return (PLACES.index(place), bool(banks), int(threads or 1)), name if place else kind_of(variant)[0]


def draw_link(line, link, **how):
    return line(link, color="black", linestyle="--", linewidth=1, label=f"the link, each way: {significant(link)} {RATE}", **how)


def draw_kernels(rows, cipher, link):
    """All kernels in counter mode."""
    rates = {row["variant"]: float(row["gb_per_s"]) for row in rows if row["mode"] == "ctr" and row["size"] == "256 MiB"}
    groups, y = {}, -1.5
    for name in sorted(rates, key=lambda name: (place_of(name), name)):
        place = place_of(name)[1]
        y += 1 if place in groups else 1.5
        groups.setdefault(place, {})[name] = y
    figure, axis = plt.subplots(figsize=(8, 1 + 0.19 * (y + 2)))
    for name, at in [bar for bars in groups.values() for bar in bars.items()]:
        axis.barh(at, rates[name], height=0.88, color=kind_of(name)[1])
        axis.text(rates[name], at, f" {significant(rates[name])}", va="center", fontsize=8, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0})
    axis.set_yticks([sum(bars.values()) / len(bars) for bars in groups.values()], groups)
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(y + 0.8, -0.8)
    axis.set_xlabel(RATE)
    tables = dict(kind_of(name) for name in sorted(rates) if "-" in name)
    axis.legend(handles=[draw_link(axis.axvline, link, zorder=0.5), *boxes(tables)], frameon=False, loc="lower right")
    axis.set_title(f"{title_of(cipher)} kernels, counter mode, launches of 256 MiB, data in device memory")
    faster = sum(rate > rates["bitslice"] for rate in rates.values())
    count = f"{faster or 'none'} of {len(rates) - 1} kernels with tables {'is' if faster < 2 else 'are'}"
    entitle(figure, f"bitslice needs no tables; {count} faster")
    return figure


def draw_by_size(rows, cipher, link):
    """A panel for each mode, and a line for each kernel."""
    modes = group([row for row in rows if row["mode"] != "open" and row["variant"] in KERNELS], "mode")
    figure, axes = plt.subplots(1, len(modes), figsize=(4.8 * len(modes), 3.4), squeeze=False, sharey=True)
    own = line_of([row for row in modes["ctr",] if row["variant"] == "bitslice"])
    half = min(size for size, rate in own if rate >= own[-1][1] / 2)
    entitle(figure, f"{title_of(cipher)} in counter mode: bitslice reaches half of its highest rate with launches of {words_of(half)}")
    ticks = [size for size, _ in own][::2]
    for axis, ((mode,), here) in zip(axes.flat, modes.items()):
        axis.set_yscale("log")
        log_axis(axis, ticks, map(words_of, ticks))
        axis.set_xlabel("size of a launch")
        axis.set_title(f"{MODES[mode]}, data in device memory")
        lines = {KERNELS[variant]: line_of(rows) for (variant,), rows in group(here, "variant").items()}
        for (_, color), line in lines.items():
            axis.plot(*zip(*line), color=color, marker="o", markersize=3, linewidth=1.6)
        label_lines(axis, [(*line[-1], *kind) for kind, line in lines.items()])
        draw_link(axis.axhline, link)
        axis.legend(loc="lower right", fontsize=8, framealpha=1, edgecolor="none")
    axes[0, 0].set_ylabel(f"{RATE}, logarithmic")
    return figure


def line_of(rows):
    return sorted((int(row["bytes"]), float(row["gb_per_s"])) for row in rows)


# Programs ---------------------------------------------------------------------------------------------

KINDS = {"copy only": GRAY, OURS: BLUE, "other programs": VERMILION}
# The title of a panel, the part of the results, and a pattern for the case; what most people do comes first.
PANELS = (("file to file, disk", "output", r"disk, \d"), ("file to file, disk, uncached input", "output", "disk, cold"),
          ("between two pipes", "pipe", ""), ("uncached file to /dev/null", "cold", ""),
          ("cached file to /dev/null, 1 CPU", "rivals", "1 GiB, 1 CPU"), ("cached file to /dev/null, all CPUs", "rivals", r"1 GiB, (?!1 CPU)"))


def bars_of(rows, case):
    """(name, row, kind) of copies, then of encryption by this program and by others."""
    bars = []
    for row in [row for row in rows if re.match(case, row["case"])]:
        if row["program"] == OURS and row["action"] == "encrypt" and is_with_rivals(row) and row["cipher"] != "kuznyechik":
            bars.append((f"{OURS}, {row['format']}", row, OURS))
        elif row["action"] == "copy" or row["program"] in RIVALS and row["action"] == "encrypt":
            bars.append((row["program"], row, "copy only" if row["action"] == "copy" else "other programs"))
    return sorted(bars, key=lambda bar: list(KINDS).index(bar[2]))


def draw_rivals(run):
    """All panels have the same scale. Bars that are longer than those of all other panels are cut, which is shown."""
    panels = [(title, bars) for title, part, case in PANELS if (bars := bars_of(run.of_part(part), case))]
    count = (len(panels) + 1) // 2
    heights = [1.6 + max(len(bars) for _, bars in panels[2 * line:2 * line + 2]) for line in range(count)]
    figure, axes = plt.subplots(count, 2, figsize=(10, 0.23 * sum(heights) + 1.1), squeeze=False, gridspec_kw={"height_ratios": heights})
    limit = 1.03 * sorted(max(row["high"] for _, row, _ in bars) for _, bars in panels)[-2:][0]
    for axis, (title, bars) in zip(axes.flat, panels):
        for y, (name, row, kind) in enumerate(bars):
            draw_bar(axis, y, row, KINDS[kind], "raw" in name or name == "openssl", limit)
        axis.set_yticks(range(len(bars)), [name for name, _, _ in bars])
        axis.invert_yaxis()
        axis.tick_params(axis="y", length=0)
        axis.set_title(f"{bars[0][1]['size']} {title}")
        axis.set_xlim(0, limit)
    for axis in axes.flat[len(panels):]:
        axis.set_visible(False)
    figure.supxlabel(f"{RATE}; thin lines: from the slowest to the fastest run; //: the bar is cut", fontsize=9)
    rates = [{name: row["rate"] for name, row, _ in bars} for _, bars in panels]
    ratios = [each[f"{OURS}, age"] / each["age"] for each in rates if "age" in each]
    entitle(figure, f"{OURS} encrypts age files {min(ratios):.2g} to {max(ratios):.2g} times as fast as age")
    hollow = plt.Rectangle((0, 0), 1, 1, label="not authenticated", facecolor="white", edgecolor=BLACK)
    axes.flat[len(panels) - 1].legend(handles=[*boxes(KINDS), hollow], loc="lower right", fontsize=8, frameon=False)
    return figure


def draw_bar(axis, y, row, color, is_hollow, limit):
    """A bar with its value at its beginning, where no line covers it."""
    face, ink = ("white", color) if is_hollow else (color, "white")
    axis.barh(y, min(row["rate"], limit), height=0.8, facecolor=face, edgecolor=color)
    axis.text(0.01 * limit, y, significant(row["rate"]), va="center", fontsize=8, color=ink)
    if row["rate"] > limit:
        axis.text(0.94 * limit, y, "//", va="center", ha="center", fontsize=12, color=ink)
    else:
        axis.plot([row["low"], row["high"]], [y, y], color=BLACK, linewidth=0.8)


def draw_cpus(rows):
    """A panel for each cipher and format; a line for CPU threads, a GPU and -l auto."""
    panels = group(rows, "cipher", "format")
    figure, axes = plt.subplots(1, len(panels), figsize=(3.4 * len(panels), 3.4), squeeze=False, sharey=True)
    share = min(auto["rate"] / max(cpu["rate"], gpu["rate"]) for cpu, gpu, auto in group(rows, "cipher", "case").values())
    entitle(figure, f"-l auto reaches at least {share:.0%} of the rate of CPUs or of a GPU, whichever is faster")
    for axis, ((cipher, form), here) in zip(axes.flat, panels.items()):
        cpu, gpu, auto = group(here, "on").values()
        counts = [int(row["case"].split()[0]) for row in cpu]
        lines = {("CPU threads", SKY): cpu, ("-l cuda:0", GREEN): gpu, ("-l auto", BLACK): auto}
        axis.set_yscale("log", base=2)
        for (_, color), line in lines.items():
            errors = [[row["rate"] - row["low"] for row in line], [row["high"] - row["rate"] for row in line]]
            axis.errorbar(counts, [row["rate"] for row in line], yerr=errors, color=color, marker="o", markersize=3, linewidth=1.6,
                          elinewidth=0.8, capsize=2)
        most = max((count for count, *pair in zip(counts, cpu, gpu) if pair[1]["rate"] > pair[0]["rate"]), default=0)
        faster = f"a GPU is faster with up to {most} CPU{'s' * (most > 1)}" if most else "CPUs are faster than a GPU"
        log_axis(axis, counts, counts)
        axis.set_xlabel("CPUs")
        axis.set_title(f"{title_of(cipher)}, {form}, {cpu[0]['size']}\n{faster}")
        label_lines(axis, [(counts[-1], line[-1]["rate"], *kind) for kind, line in lines.items()])
    axes[0, 0].set_ylabel(f"{RATE}, logarithmic")
    return figure


# The timeline of a trace ------------------------------------------------------------------------------

SPANS = {"read": ("read", SKY), "kernel": ("kernel", BLUE), "write": ("write", VERMILION), "enqueue": ("start the job", BLACK),
         "device": ("wait for the job", GREEN), "H2D": ("copy to the device", ORANGE), "D2H": ("copy from the device", PURPLE),
         "wait": ("wait", LIGHT), "queue": ("in the device's queue", LIGHT), "cipher": ("cipher", BLUE)}
SHOWN = re.compile("worker ([123]),")
VISIBLE = 1 / 400  # of the width: what never takes longer is not shown


def draw_timeline(rows):
    """What the first workers do, and when."""
    spans = [(row["track"], row["what"], float(row["start_us"]) / 1e3, float(row["length_us"]) / 1e3) for row in rows]
    end = max(start + length for _, _, start, length in spans)
    spans = [span for span in spans if SHOWN.match(span[0])]
    ys = {track: i + 0.4 * (int(SHOWN.match(track)[1]) - 1) for i, track in enumerate(sorted({span[0] for span in spans}))}
    bottom = max(ys.values())
    figure, axis = plt.subplots(figsize=(9, 1 + 0.26 * (bottom + 1.4)))
    shown, total = {}, {}
    for what in dict.fromkeys(what for _, what, _, length in spans if length > 0):
        here = [(ys[track], start, length) for track, each, start, length in spans if each == what and length > 0]
        total[what] = sum(length for _, _, length in here)
        if any(length >= VISIBLE * end for _, _, length in here):
            name, shown[name] = SPANS[what]
            for y, start, length in here:
                axis.broken_barh([(start, length)], (y - 0.42, 0.84), facecolor=shown[name], edgecolor="white", linewidth=0.3)
    axis.set_yticks(list(ys.values()), ys)
    axis.invert_yaxis()
    axis.set_xlim(0, end)
    axis.set_xlabel("milliseconds")
    longest, _ = SPANS[max(total, key=total.get)]
    entitle(figure, f"Lanes spend most of their time on '{longest}'{'; copies and kernels run meanwhile' * ('kernel' in total)}")
    axis.legend(handles=boxes(shown), frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncol=5, fontsize=8)
    return figure
