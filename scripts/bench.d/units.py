"""Sizes, as users write them and as they are printed."""

KI, MI, GI = 1 << 10, 1 << 20, 1 << 30


def size_of(text):
    unit = {"K": KI, "M": MI, "G": GI}.get(text[-1:].upper())
    return int(text[:-1]) * unit if unit else int(text)


def words_of(size):
    for word, unit in (("GiB", GI), ("MiB", MI), ("KiB", KI)):
        if size >= unit:
            return f"{size / unit:.4g} {word}"
    return f"{size} bytes"
