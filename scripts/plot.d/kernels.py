"""Pictures of gpuaes-bench kernels: bars for one size, and lines by size."""

import math
import os
import re

from inputs import group, number, points, read
from style import BLUE, DARK_ORANGE, GRAY, MODES, ORANGE, PALE_ORANGE, PURPLE, RATE, entitle, label_lines, plain, significant, size_axis, size_name, title_of

COLUMNS = {"variant", "cipher", "mode", "bytes", "copies", "gb_per_s"}

# The first part of a variant's name is the kind of its tables, and the rest is their place.
TABLES = {"sbox": ("S-box", PALE_ORANGE), "ttable1": ("one T-table", ORANGE), "ttable4": ("four T-tables", DARK_ORANGE),
          "ls": ("LS tables", ORANGE)}
PLACES = ["constant", "texture", "global", "shared"]
OURS = ("bitslice", "chacha20")  # the kernels of gpuaes-stream; only gpuaes-bench has the others


def split(variant):
    """(tables, place): ("ttable4", "shared-banks"); bitslice and ttable have no place."""
    tables, _, place = variant.partition("-")
    return (tables, place) if tables in TABLES and place else (variant, "")


def order_of(variant):
    tables, place = split(variant)
    at = next((i for i, name in enumerate(PLACES) if place.startswith(name)), -1)
    threads = re.search(r"(\d+)threads", place)
    return (at, "banks" in place, int(threads.group(1)) if threads else 1, variant)


def draw(plt, rows, save, folder):
    link = rate_of_link(folder)
    rows = points(rows, ("variant", "cipher", "mode", "copies"), ("bytes", "gb_per_s"))
    ciphers = group(rows, "cipher")
    sizes = {cipher: len({row["bytes"] for row in here}) for (cipher,), here in ciphers.items()}
    for (cipher,), of_cipher in ciphers.items():
        if sizes[cipher] < max(sizes.values()) or len({row["variant"] for row in of_cipher}) < 2:  # only measured for a table
            continue
        save(draw_bars(plt, of_cipher, cipher, link), cipher)
        panels = panels_of(of_cipher)
        if panels:
            save(draw_by_size(plt, panels, cipher, link), f"{cipher}-by-size")


def rate_of_link(folder):
    """The rate of copies to and from the first device at once, each way, of the size that lanes copy, in the results that are
    next to the kernels."""
    path = os.path.join(folder, "links.csv")
    rows = read(path)[0] if os.path.exists(path) else []
    return next((number(row["value"]) for row in rows
                 if (row["what"], row["device"], row["bytes"]) == ("both at once, each way", "cuda:0", str(4 << 20))), None)


def link_name(link):
    return f"the link, each way: {significant(link)} {RATE}"


def draw_bars(plt, rows, cipher, link):
    """Bars for the mode and size with the most kernels measured; of several such sizes, the largest."""
    _, of_mode = max(group(rows, "mode", "copies").items(), key=lambda each: len({row["variant"] for row in each[1]}))
    count = {size: len({row["variant"] for row in here}) for (size,), here in group(of_mode, "bytes").items()}
    size = max(count, key=lambda each: (count[each], each))
    rates = {}
    for row in of_mode:
        if row["bytes"] == size:
            rates[row["variant"]] = max(row["gb_per_s"], rates.get(row["variant"], 0))
    groups = {}
    for name in sorted(rates, key=order_of):
        groups.setdefault(split(name)[1] or name, []).append(name)
    ys, ticks = {}, []
    for names in groups.values():
        first = (max(ys.values()) if ys else -1.5) + 1.5
        ys |= {name: first + i for i, name in enumerate(names)}
        ticks.append(first + (len(names) - 1) / 2)
    figure, axis = plt.subplots(figsize=(8, 1 + 0.19 * (max(ys.values()) + 2)))
    axis.barh(list(ys.values()), [rates[name] for name in ys], height=0.88, color=[color_of(name) for name in ys])
    for name, at in ys.items():
        axis.text(rates[name], at, f" {significant(rates[name])}", va="center", fontsize=8,
                  bbox={"facecolor": "white", "edgecolor": "none", "pad": 0})
    axis.set_yticks(ticks, [plain(place_name(place)) for place in groups])
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(max(ys.values()) + 0.8, -0.8)
    axis.set_xlabel(RATE)
    handles = [axis.axvline(link, color="black", linestyle="--", linewidth=1, zorder=0.5, label=link_name(link))] if link else []
    tables = {TABLES[split(name)[0]][0]: color_of(name) for name in ys if split(name)[1]}
    handles += [plt.Rectangle((0, 0), 1, 1, label=name, facecolor=color) for name, color in tables.items()]
    if handles:
        axis.legend(handles=handles, frameon=False, loc="lower right")
    mode, copies = of_mode[0]["mode"], of_mode[0]["copies"]
    axis.set_title(plain(f"{title_of(cipher)} kernels, {MODES.get(mode, mode)}, launches of {size_name(size)}, {where(copies)}"))
    entitle(figure, rank_of_ours(rates))
    return figure


def rank_of_ours(rates):
    """How many kernels with tables are faster than the kernel without any."""
    own = next((name for name in OURS if name in rates), None)
    if not own:
        return "Rates of kernels"
    faster = sum(rate > rates[own] for rate in rates.values())
    count = f"{faster} of {len(rates) - 1}" if faster else f"none of {len(rates) - 1}"
    return f"{own} needs no tables; {count} kernels with tables {'is' if faster < 2 else 'are'} faster"


def color_of(variant):
    tables, place = split(variant)
    return TABLES[tables][1] if place else BLUE if variant in OURS else PURPLE if variant == "ttable" else GRAY


def place_name(place):
    """shared-banks-4threads: a copy of the table in each bank, 4 threads for a block."""
    words = place.split("-")
    if words[0] not in PLACES:
        return with_ours(place)
    threads = next((word.removesuffix("threads") for word in words if word.endswith("threads")), None)
    return f"{words[0]} memory" + (", a copy per bank" if "banks" in words else "") + (f", {threads} threads per cipher block" if threads else "")


def with_ours(variant):
    return f"{variant} (gpuaes-stream)" if variant in OURS else variant


def where(copies):
    return "with copies to and from the device" if copies == "yes" else "data in device memory"


def panels_of(rows):
    """(title, {line: {size: rate}}) for each mode, with the kernels that were measured with several sizes."""
    panels = []
    for (mode, copies), here in group(rows, "mode", "copies").items():
        lines = {}
        for row in sorted(here, key=lambda row: order_of(row["variant"])):
            line = lines.setdefault(row["variant"], {})
            line[row["bytes"]] = max(row["gb_per_s"], line.get(row["bytes"], 0))
        lines = {name: line for name, line in lines.items() if len(line) > 2}
        if lines:
            panels.append((f"{MODES.get(mode, mode)}, {where(copies)}", lines))
    return panels


def draw_by_size(plt, panels, cipher, link):
    columns = min(len(panels), 2 if len(panels) <= 4 else 3)
    lines = math.ceil(len(panels) / columns)
    figure, axes = plt.subplots(lines, columns, figsize=(4.8 * columns, 0.6 + 2.8 * lines), squeeze=False, sharey=True)
    entitle(figure, half_rate_of(cipher, panels))
    sizes = [size for _, lines in panels for line in lines.values() for size in line]
    for axis in axes.flat[len(panels):]:
        axis.set_visible(False)
    for axis, (title, lines) in zip(axes.flat, panels):
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter("{x:g}")
        size_axis(axis, sizes)
        axis.set_xlabel("size of a launch")
        axis.set_title(plain(title))
        axis.grid(True, alpha=0.3)
        ends = []
        for name, line in lines.items():
            at, color = sorted(line), color_of(name)
            axis.plot(at, [line[size] for size in at], color=color, marker="o", markersize=3, linewidth=1.6)
            ends.append((at[-1], line[at[-1]], with_ours(name), color))
        label_lines(axis, ends)
        if link:
            axis.axhline(link, color="black", linestyle="--", linewidth=1, label=link_name(link))
            axis.legend(loc="lower right", fontsize=8, framealpha=1, edgecolor="none")
    for axis in axes[:, 0]:
        axis.set_ylabel(f"{RATE}, logarithmic")
    return figure


def half_rate_of(cipher, panels):
    """The size of a launch from which the kernel of gpuaes-stream has half of its rate, in the first panel."""
    title, lines = panels[0]
    own = next((name for name in OURS if name in lines), None)
    if not own:
        return f"{title_of(cipher)} kernels by size of a launch"
    size = min(size for size, rate in lines[own].items() if rate >= max(lines[own].values()) / 2)
    return f"{title_of(cipher)} in {title.split(',')[0]}: {own} reaches half of its highest rate with launches of {size_name(size)}"
