"""The pictures of the documents. Bars and points are medians; thin lines reach from the slowest to the fastest run."""

import math
import re

from run import MI, MODES, OURS, RIVALS, group, lanes_of, one_digit, significant, size_name, title_of

# Okabe and Ito's colors, which people with color blindness can tell apart. Each has one meaning in all pictures.
BLUE, SKY, GREEN, VERMILION, PURPLE, ORANGE = "#0072B2", "#56B4E9", "#009E73", "#D55E00", "#CC79A7", "#E69F00"
PALE_ORANGE, DARK_ORANGE, BLACK, GRAY, LIGHT = "#F5D79A", "#8A5F00", "#000000", "#666666", "#DDDDDD"
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "gpuaes", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
            "axes.titlesize": 10, "axes.titlelocation": "left", "figure.constrained_layout.use": True}
RATE = "GB/s"


def draw_all(plt, run, save):
    for cipher in ("aes-256", "kuznyechik"):
        rows = [row for row in run.kernels if row["cipher"] == cipher]
        link = next((float(row["value"]) for row in run.links if row["what"].startswith("both") and int(row["bytes"]) == 4 * MI), None)
        if any(row["variant"] == "bitslice" and int(row["bytes"]) == 256 * MI for row in rows):
            save(draw_kernels(plt, rows, cipher, link), f"kernels-{cipher}")
            save(draw_by_size(plt, rows, cipher, link), f"kernels-{cipher}-by-size")
    panels = [(title, bars_of(run.of_part(part), case)) for title, part, case in PANELS]
    panels = [(title, bars) for title, bars in panels if len(bars) > 1]
    if panels:
        save(draw_rivals(plt, panels), "programs-rivals")
    if run.of_part("cpus"):
        save(draw_cpus(plt, run.of_part("cpus")), "programs-cpus")
    if run.trace:
        save(draw_timeline(plt, run.trace), "trace-timeline")


def entitle(figure, title):
    """The title is what the picture shows, and also that of the SVG file."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    figure.set_label(title)


def legend(axis, plt, colors, *more, **how):
    handles = [*more, *(plt.Rectangle((0, 0), 1, 1, label=name, facecolor=color) for name, color in colors.items())]
    axis.legend(handles=handles, frameon=False, **how)


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
KERNEL_COLORS = {"bitslice": BLUE, "chacha20": BLUE, "ttable": PURPLE, "sbox": PALE_ORANGE, "ttable1": ORANGE, "ttable4": DARK_ORANGE, "ls": ORANGE}
KINDS_OF_TABLES = {"sbox": "S-box", "ttable1": "one T-table", "ttable4": "four T-tables", "ls": "LS tables"}
PLACES = ["constant", "texture", "global", "shared"]


def color_of(variant):
    return KERNEL_COLORS.get(variant.partition("-")[0], GRAY)


def order_of(variant):
    place, _, rest = variant.partition("-")[2].partition("-")
    threads = re.search(r"(\d+)threads", rest)
    return PLACES.index(place) if place else -1, "banks" in rest, int(threads[1]) if threads else 1, variant


def place_of(variant):
    words = variant.split("-")[1:]
    threads = next((f", {word.removesuffix('threads')} threads per cipher block" for word in words if word.endswith("threads")), "")
    return f"{words[0]} memory{', a copy per bank' * ('banks' in words)}{threads}" if words else with_ours(variant)


def with_ours(variant):
    return f"{variant} (gpuaes-stream)" if color_of(variant) == BLUE else variant


def draw_link(axis, line, link, **how):
    return [line(link, color="black", linestyle="--", linewidth=1, label=f"the link, each way: {significant(link)} {RATE}", **how)] if link else []


def draw_kernels(plt, rows, cipher, link):
    """All kernels in counter mode."""
    rates = {row["variant"]: float(row["gb_per_s"]) for row in rows if row["mode"] == "ctr" and int(row["bytes"]) == 256 * MI}
    groups, ys, ticks = {}, {}, []
    for name in sorted(rates, key=order_of):
        groups.setdefault(place_of(name), []).append(name)
    for names in groups.values():
        first = max(ys.values(), default=-1.5) + 1.5
        ys |= {name: first + i for i, name in enumerate(names)}
        ticks.append(first + (len(names) - 1) / 2)
    figure, axis = plt.subplots(figsize=(8, 1 + 0.19 * (max(ys.values()) + 2)))
    axis.barh(list(ys.values()), [rates[name] for name in ys], height=0.88, color=[color_of(name) for name in ys])
    for name, at in ys.items():
        axis.text(rates[name], at, f" {significant(rates[name])}", va="center", fontsize=8, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0})
    axis.set_yticks(ticks, groups)
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(max(ys.values()) + 0.8, -0.8)
    axis.set_xlabel(RATE)
    tables = {KINDS_OF_TABLES[name.partition("-")[0]]: color_of(name) for name in ys if "-" in name}
    legend(axis, plt, tables, *draw_link(axis, axis.axvline, link, zorder=0.5), loc="lower right")
    axis.set_title(f"{title_of(cipher)} kernels, counter mode, launches of 256 MiB, data in device memory")
    faster = sum(rate > rates["bitslice"] for rate in rates.values())
    count = f"{faster or 'none'} of {len(rates) - 1} kernels with tables {'is' if faster < 2 else 'are'}"
    entitle(figure, f"bitslice needs no tables; {count} faster")
    return figure


def draw_by_size(plt, rows, cipher, link):
    """A panel for each mode, and a line for each kernel that was measured with several sizes."""
    panels = {}
    for (mode, variant), here in group(sorted(rows, key=lambda row: order_of(row["variant"])), "mode", "variant").items():
        if len(here) > 2:
            panels.setdefault(mode, {})[variant] = {int(row["bytes"]): float(row["gb_per_s"]) for row in here}
    figure, axes = plt.subplots(1, len(panels), figsize=(4.8 * len(panels), 3.4), squeeze=False, sharey=True)
    own = next(iter(panels.values()))["bitslice"]
    size = min(size for size, rate in own.items() if rate >= max(own.values()) / 2)
    mode = MODES[next(iter(panels))]
    entitle(figure, f"{title_of(cipher)} in {mode}: bitslice reaches half of its highest rate with launches of {size_name(size)}")
    powers = range(int(math.log2(min(own))), int(math.log2(max(own))) + 1, 4)
    for axis, (mode, lines) in zip(axes.flat, panels.items()):
        axis.set_yscale("log")
        log_axis(axis, [2.0 ** power for power in powers], [size_name(2.0 ** power) for power in powers])
        axis.set_xlabel("size of a launch")
        axis.set_title(f"{MODES[mode]}, data in device memory")
        ends = []
        for name, line in lines.items():
            at = sorted(line)
            axis.plot(at, [line[size] for size in at], color=color_of(name), marker="o", markersize=3, linewidth=1.6)
            ends.append((at[-1], line[at[-1]], with_ours(name), color_of(name)))
        label_lines(axis, ends)
        if draw_link(axis, axis.axhline, link):
            axis.legend(loc="lower right", fontsize=8, framealpha=1, edgecolor="none")
    axes[0, 0].set_ylabel(f"{RATE}, logarithmic")
    return figure


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
        if row["program"] == OURS and row["action"] == "encrypt" and row["lanes"] == lanes_of(row["case"]) and row["cipher"] != "kuznyechik":
            bars.append((f"{OURS}, {row['format']}", row, OURS))
        elif row["action"] == "copy" or row["program"] in RIVALS and row["action"] == "encrypt":
            bars.append((row["program"], row, "copy only" if row["action"] == "copy" else "other programs"))
    return sorted(bars, key=lambda bar: list(KINDS).index(bar[2]))


def draw_rivals(plt, panels):
    """All panels have the same scale. Bars of a panel that is much faster than the others are cut, which is shown."""
    count = (len(panels) + 1) // 2
    heights = [1.6 + max(len(bars) for _, bars in panels[2 * line:2 * line + 2]) for line in range(count)]
    figure, axes = plt.subplots(count, 2, figsize=(10, 0.23 * sum(heights) + 1.1), squeeze=False, gridspec_kw={"height_ratios": heights})
    *_, second, fastest = [0, *sorted(max(row["high"] for _, row, _ in bars) for _, bars in panels)]
    limit = 1.03 * (second if 0 < 2 * second < fastest else fastest)
    for axis, (title, bars) in zip(axes.flat, panels):
        for y, (name, row, kind) in enumerate(bars):
            draw_bar(axis, y, row, KINDS[kind], "raw" in name or name == "openssl", limit)
        axis.set_yticks(range(len(bars)), [name for name, _, _ in bars])
        axis.invert_yaxis()
        axis.tick_params(axis="y", length=0)
        axis.set_title(f"{size_name(int(bars[0][1]['bytes']))} {title}")
        axis.set_xlim(0, limit)
    for axis in axes.flat[len(panels):]:
        axis.set_visible(False)
    figure.supxlabel(f"{RATE}; thin lines: from the slowest to the fastest run; //: the bar is cut", fontsize=9)
    both = [{name: row["rate"] for name, row, _ in bars} for _, bars in panels]
    ratios = sorted(rates[f"{OURS}, age"] / rates["age"] for rates in both if rates.keys() >= {f"{OURS}, age", "age"})
    entitle(figure, f"{OURS} encrypts age files {' to '.join(dict.fromkeys(map(one_digit, (ratios[0], ratios[-1]))))} times as fast as age"
            if ratios else "Rates of encryption")
    hollow = plt.Rectangle((0, 0), 1, 1, label="not authenticated", facecolor="white", edgecolor=BLACK)
    handles = [plt.Rectangle((0, 0), 1, 1, label=name, facecolor=color) for name, color in KINDS.items()]
    axes.flat[len(panels) - 1].legend(handles=[*handles, hollow], loc="lower right", fontsize=8, frameon=False)
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


LANES = {"cpu": ("CPU threads", SKY), "cuda": ("-l cuda:0", GREEN), "auto": ("-l auto", BLACK)}


def draw_cpus(plt, rows):
    """A panel for each cipher and format; a line for CPU threads, a GPU and -l auto."""
    panels = {}
    for row in rows:
        line = panels.setdefault((row["cipher"], row["format"]), {}).setdefault(row["lanes"].split(":")[0], {})
        line[int(row["case"].split()[0])] = row
    figure, axes = plt.subplots(1, len(panels), figsize=(3.4 * len(panels), 3.4), squeeze=False, sharey=True)
    shares = [row["rate"] / max(lines[name][count]["rate"] for name in ("cpu", "cuda")) for lines in panels.values()
              if lines.keys() == LANES.keys() for count, row in lines["auto"].items()]
    entitle(figure, f"-l auto reaches at least {min(shares):.0%} of the rate of CPUs or of a GPU, whichever is faster" if shares
            else "CPU threads by number of CPUs")  # before label_lines(), which needs the final layout
    for axis, ((cipher, form), lines) in zip(axes.flat, panels.items()):
        ends, second_line, counts = [], "", sorted(set().union(*lines.values()))
        axis.set_yscale("log", base=2)
        for name, line in lines.items():
            points = [line[count] for count in sorted(line)]
            rates = [row["rate"] for row in points]
            errors = [[row["rate"] - row["low"] for row in points], [row["high"] - row["rate"] for row in points]]
            axis.errorbar(sorted(line), rates, yerr=errors, color=LANES[name][1], marker="o", markersize=3, linewidth=1.6, elinewidth=0.8, capsize=2)
            ends.append((max(line), rates[-1], *LANES[name]))
        if lines.keys() == LANES.keys():
            most = max((count for count in counts if lines["cuda"][count]["rate"] > lines["cpu"][count]["rate"]), default=0)
            second_line = f"\na GPU is faster with up to {most} CPU{'s' * (most > 1)}" if most else "\nCPUs are faster than a GPU"
        log_axis(axis, counts, counts)
        axis.set_xlabel("CPUs")
        first = next(iter(lines.values()))
        axis.set_title(f"{title_of(cipher)}, {form}, {size_name(int(first[min(first)]['bytes']))}{second_line}")
        label_lines(axis, ends)
    axes[0, 0].set_ylabel(f"{RATE}, logarithmic")
    return figure


# The timeline of a trace ------------------------------------------------------------------------------

SPANS = {"read": ("read", SKY), "kernel": ("kernel", BLUE), "write": ("write", VERMILION), "enqueue": ("start the job", BLACK),
         "device": ("wait for the job", GREEN), "H2D": ("copy to the device", ORANGE), "D2H": ("copy from the device", PURPLE),
         "wait": ("wait", LIGHT), "queue": ("in the device's queue", LIGHT), "cipher": ("cipher", BLUE)}
MAX_LANES = 3
VISIBLE = 1 / 400  # of the width: what never takes longer is not shown


def span_of(what):
    return SPANS.get(what, (what, GRAY))


def draw_timeline(plt, rows):
    """What each worker does, and when."""
    spans = [(row["track"], row["what"], float(row["start_us"]) / 1e3, float(row["length_us"]) / 1e3) for row in rows]
    end = max(start + length for _, _, start, length in spans)
    tracks = sorted({span[0] for span in spans}, key=lambda track: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", track)])
    lanes = list(dict.fromkeys(track.partition(",")[0] for track in tracks))[:MAX_LANES]
    shown_tracks = [track for track in tracks if track.partition(",")[0] in lanes]
    ys = {track: i + 0.4 * lanes.index(track.partition(",")[0]) for i, track in enumerate(shown_tracks)}
    figure, axis = plt.subplots(figsize=(9, 1 + 0.26 * (len(ys) + 0.4 * len(lanes))))
    bars, shown = {}, {}
    for track, what, start, length in spans:
        if track in ys and length > 0:
            bars.setdefault(what, {}).setdefault(track, []).append((start, length))
    for what, by_track in bars.items():
        if max(length for here in by_track.values() for _, length in here) >= VISIBLE * end:
            name, shown[name] = span_of(what)
            for track, here in by_track.items():
                axis.broken_barh(here, (ys[track] - 0.42, 0.84), facecolor=shown[name], edgecolor="white", linewidth=0.3)
    axis.set_yticks(list(ys.values()), ys)
    axis.invert_yaxis()
    axis.set_xlim(0, end)
    axis.set_xlabel("milliseconds")
    seconds = {what: sum(length for here in by_track.values() for _, length in here) for what, by_track in bars.items()}
    longest, _ = span_of(max(seconds, key=seconds.get))
    entitle(figure, f"Lanes spend most of their time on '{longest}'{'; copies and kernels run meanwhile' * ('kernel' in bars)}")
    legend(axis, plt, shown, loc="lower left", bbox_to_anchor=(0, 1), ncol=5, fontsize=8)
    return figure
