"""sealedfile.py, of the source tree or as installed; files for it, and functions that return their ranges."""

import io
import pathlib
import sys

import age_format as af
import parts_steps
from programs import FOLDER, INSTALLED, KEY, some_bytes, stream

TOP = pathlib.Path(__file__).parents[3]
READER = FOLDER.parent / "share/gpuaes-stream" if INSTALLED else TOP / "python"
sys.path.insert(0, str(READER))
from sealedfile import SealedFile  # noqa: E402

SEGMENT, SEALED = 16384, 16400
PLAIN = some_bytes(5 * SEGMENT + 100)
KINDS = ["sealed", "parts", "age"]


def seal(plain, *options):
    return stream(*options, input=plain).out


def seal_in_parts(plain, count, key, *options):
    """A file made of parts."""
    parts_steps.seal_in_parts(key, plain, count, "in-parts", *options)
    return pathlib.Path("in-parts").read_bytes()


def make(kind, plain, key):
    """A file of one of KINDS, and the secret that opens it."""
    if kind == "age":
        return seal(plain, "-r", af.recipient_text()), {"key": af.identity_text().encode()}
    sealed = seal_in_parts(plain, 3, key) if kind == "parts" else seal(plain, "-k", key)
    return sealed, {"key": KEY}


def opened(sealed, **secret):
    with SealedFile(io.BytesIO(sealed), **(secret or {"key": KEY})) as file:
        return file.read()


class Ranges:
    """A function that returns ranges of data, and records them. To ask for more than there is, is an error."""

    def __init__(self, data):
        self.data, self.asked = data, []

    def __call__(self, offset, length):
        assert 0 <= offset and 0 < length and offset + length <= len(self.data)
        self.asked.append((offset, length))
        return self.data[offset : offset + length]
