"""Pictures of gpuaes-bench sweep: rates by shape of a launch, and by number of streams."""

import math

from inputs import group, points
from style import COLORS, RATE, count_axis, label_lines, plain, title_of

COLUMNS = {"variant", "cipher", "mode", "threads", "blocks_per_thread", "streams", "gb_per_s"}
SHAPE = ("threads", "blocks_per_thread")


def draw(plt, rows, save, _):
    """Rows without streams are rates on data in device memory; rows with streams include copies to and from it."""
    rows = points(rows, ("variant", "cipher", "mode"), (*SHAPE, "streams", "gb_per_s"), absent=("streams",))
    resident = [row for row in rows if not row["streams"]]
    for (variant, cipher), of_maps in group(resident, "variant", "cipher").items():
        save(draw_maps(plt, of_maps, f"{variant}, {title_of(cipher)}"), f"{variant}-{cipher}-map")
    copied = [row for row in rows if row["streams"]]
    for (cipher,), of_cipher in group(copied, "cipher").items():
        save(draw_streams(plt, of_cipher, cipher), f"{cipher}-streams")


def choice(number):
    """0 leaves it to the kernel."""
    return f"{number:g}" if number else "own"


def best_rates(rows, *names):
    """The best rate of each combination of these values."""
    return {place: max(row["gb_per_s"] for row in here) for place, here in group(rows, *names).items()}


def draw_maps(plt, rows, title):
    """A map for each mode, side by side."""
    xs = sorted({row["blocks_per_thread"] for row in rows})
    ys = sorted({row["threads"] for row in rows})
    maps = group(rows, "mode")
    figure, axes = plt.subplots(1, len(maps), figsize=(1.2 + len(maps) * (0.6 + 0.5 * len(xs)), 1.4 + 0.32 * len(ys)),
                                squeeze=False, sharey=True)
    for axis, ((mode,), of_map) in zip(axes.flat, maps.items()):
        draw_map(axis, best_rates(of_map, "threads", "blocks_per_thread"), xs, ys)
        axis.set_title(plain(f"{mode}, {RATE}"))
    axes[0, 0].set_ylabel("threads in a CUDA block")
    figure.suptitle(plain(title), x=0.01, ha="left", fontsize=11)
    return figure


def draw_map(axis, rates, xs, ys):
    best = max(rates.values())
    grid = [[rates.get((y, x), math.nan) for x in xs] for y in ys]
    axis.imshow(grid, cmap="cividis", aspect="auto", origin="lower", vmin=0, vmax=best)
    for (threads, blocks), rate in rates.items():
        axis.text(xs.index(blocks), ys.index(threads), f"{rate:.3g}", ha="center", va="center", fontsize=8,
                  weight="bold" if rate == best else "normal", color="black" if rate > 0.6 * best else "white")
    axis.set_xticks(range(len(xs)), [choice(x) for x in xs])
    axis.set_yticks(range(len(ys)), [choice(y) for y in ys])
    axis.set_xlabel("cipher blocks per thread")


def draw_streams(plt, rows, cipher):
    figure, axis = plt.subplots(figsize=(7, 3.2))
    ends, shapes = [], group(rows, "variant", *SHAPE)
    for color, ((variant, threads, blocks), here) in zip(COLORS, shapes.items()):
        best = sorted(best_rates(here, "streams").items())
        axis.plot([at for (at,), _ in best], [rate for _, rate in best], color=color, marker="o", markersize=3, linewidth=1.6)
        name = variant if not threads and not blocks else f"{variant}, {choice(threads)} threads, {choice(blocks)} blocks"
        ends.append((best[-1][0][0], best[-1][1], name, color))
    count_axis(axis, sorted({row["streams"] for row in rows}), "streams")
    axis.set_ylabel(RATE)
    axis.set_ylim(bottom=0)
    axis.set_title(plain(f"{title_of(cipher)}, with copies to and from the device"))
    label_lines(axis, ends)
    return figure
