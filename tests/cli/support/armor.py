"""An independent implementation of armor, the sealed format's and age's, with checks as strict as the program's."""

import base64

SEALED, AGE = b"GPUAES-STREAM", b"AGE"
BEGIN, END = (b"-----%b GPUAES-STREAM ENCRYPTED FILE-----" % word for word in (b"BEGIN", b"END"))


def armor(data, newline=b"\n", kind=SEALED):
    text = base64.b64encode(data)
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    begin, end = (b"-----%b %b ENCRYPTED FILE-----" % (word, kind) for word in (b"BEGIN", b"END"))
    return b"".join(line + newline for line in [begin, *lines, end])


def dearmor(text, kind=SEALED):
    """What the program's armor encodes; fails if it is not exactly in that form."""
    data = base64.b64decode(b"".join(text.split(b"\n")[1:-2]), validate=True)
    assert armor(data, kind=kind) == text, text
    return data
