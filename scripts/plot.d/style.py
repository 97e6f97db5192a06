"""The style of all pictures."""

import math

# Okabe and Ito's colors, which people with color blindness can tell apart. Each has one meaning in all pictures.
BLUE, SKY, GREEN, VERMILION, PURPLE, ORANGE = "#0072B2", "#56B4E9", "#009E73", "#D55E00", "#CC79A7", "#E69F00"
PALE_ORANGE, DARK_ORANGE = "#F5D79A", "#8A5F00"
BLACK, GRAY, LIGHT = "#000000", "#666666", "#DDDDDD"
RATE = "GB/s"
MODES = {"ctr": "counter mode", "seal": "sealing", "open": "opening"}

SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "gpuaes", "font.size": 9, "axes.spines.top": False,
            "axes.spines.right": False, "axes.titlesize": 10, "axes.titlelocation": "left", "figure.constrained_layout.use": True}


def entitle(figure, title):
    """The title is what the picture shows, and also that of the SVG file."""
    figure.suptitle(plain(title), x=0.01, ha="left", fontsize=11)
    figure.set_label(title)


def plain(text):
    """Matplotlib would read text between dollars as a formula."""
    return text.replace("$", r"\$")


def title_of(cipher):
    return cipher.upper() if cipher.startswith("aes-") else cipher.capitalize().replace("Chacha20-poly", "ChaCha20-Poly")


def size_name(size):
    for unit, word in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {word}"
    return f"{size:g} B"


def significant(number):
    """Three digits; further ones vary from run to run."""
    return f"{number:.0f}" if number >= 99.5 else f"{number:.1f}" if number >= 9.95 else f"{number:.2f}"


def size_axis(axis, sizes):
    """Powers of two, every other one labeled."""
    low, high = math.floor(math.log2(min(sizes))), math.ceil(math.log2(max(sizes)))
    step = 2 if high - low < 12 else 4
    ticks = [2.0 ** power for power in range(low, high + 1, step)]
    axis.set_xscale("log", base=2)
    axis.set_xticks(ticks, [size_name(tick) for tick in ticks])
    axis.minorticks_off()


def label_lines(axis, ends):
    """Labels lines at their right ends, (x, y, name, color) each, without overlap."""
    axis.figure.draw_without_rendering()
    points = 72 / axis.figure.dpi
    y = -math.inf
    for x, end, name, color in sorted(ends, key=lambda each: each[1]):
        own = axis.transData.transform((x, end))[1] * points
        y = max(own, y + 10)
        axis.annotate(plain(name), (x, end), xytext=(6, y - own), textcoords="offset points",
                      color=color, va="center", fontsize=8, annotation_clip=False)
