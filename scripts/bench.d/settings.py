"""Sizes and settings from the environment."""

import os

KI, MI, GI = 1 << 10, 1 << 20, 1 << 30


def size_of(text):
    unit = {"K": KI, "M": MI, "G": GI}.get(text[-1:].upper())
    try:
        return int(text[:-1]) * unit if unit else int(text)
    except ValueError:
        raise SystemExit(f"bench: size '{text}' is not understood") from None


def name_of(size):
    """As size_of() takes it."""
    for letter, unit in (("G", GI), ("M", MI), ("K", KI)):
        if size % unit == 0:
            return f"{size // unit}{letter}"
    return str(size)


def words_of(size):
    """For people."""
    for word, unit in (("GiB", GI), ("MiB", MI), ("KiB", KI)):
        if size >= unit:
            return f"{size / unit:.4g} {word}"
    return f"{size} bytes"


def setting(name, default):
    return os.environ.get(name) or default


def runs_of(name, default):
    text = setting(name, str(default))
    if not text.isdigit() or int(text) == 0:
        raise SystemExit(f"bench: {name}='{text}' is no number of runs")
    return int(text)
