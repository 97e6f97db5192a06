"""An independent implementation of armor, with checks as strict as those of the program."""

import base64

BEGIN = b"-----BEGIN GPUAES-STREAM ENCRYPTED FILE-----"
END = b"-----END GPUAES-STREAM ENCRYPTED FILE-----"


def armor(data, newline=b"\n"):
    text = base64.b64encode(data)
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return b"".join(line + newline for line in [BEGIN, *lines, END])


def dearmor(text):
    """What the program's armor encodes; fails if it is not exactly in that form."""
    lines = text.split(b"\n")
    assert (lines[0], lines[-2], lines[-1]) == (BEGIN, END, b""), text
    data = base64.b64decode(b"".join(lines[1:-2]), validate=True)
    assert armor(data) == text, text
    return data
