"""Sizes, as users write them and as they are printed."""

import re

KI, MI, GI, TI = 1 << 10, 1 << 20, 1 << 30, 1 << 40
UNITS = {None: 1, "K": KI, "M": MI, "G": GI, "T": TI}


def size_of(text):
    """The size in bytes. ValueError if the text is not one."""
    found = re.fullmatch(r"(\d+)(?:([KMGT])(?:iB)?)?", text)
    if not found:
        raise ValueError(text)
    return int(found[1]) * UNITS[found[2]]


def words_of(size):
    for word, unit in (("GiB", GI), ("MiB", MI), ("KiB", KI)):
        if size >= unit:
            return f"{size / unit:.4g} {word}"
    return f"{size} bytes"
