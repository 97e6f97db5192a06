"""--salvage still fails for wrong keys, damaged headers and commitments, unsuitable options, and outputs that fail."""

import json
import os
import signal

import pytest

from processes import expect_death_by, wait_until_idle
from programs import IV, content, expect_same, files_here, flipped, secret_file, some_bytes, start, stream

PLAIN = some_bytes(100000)
RECOVERED = PLAIN[:49152] + bytes(16384) + PLAIN[65536:]
LOST = "damaged: the input is corrupt; 16384 bytes of plaintext in 1 range are lost"
WARNING = "damaged: the input is corrupt at byte 49375; plaintext range 49152:16384 is lost"


@pytest.fixture(autouse=True)
def files(key):
    """Some damaged files, and `old`, which must not be replaced."""
    sealed = stream("-q", "-k", key, input=PLAIN).out
    in_header = {f"header-{at}": at for at in (10, 17, 30, 150)}  # in magic, slots, a slot and commitment
    files = {"sealed": sealed, "bare": sealed[119:], "cut": sealed[:174], "old": b"old", "wrong": b"%064d" % 1}
    for name, at in {"damaged": 60000, **in_header}.items():
        files[name] = flipped(sealed, at)
    for name, data in files.items():
        secret_file(name, data)


@pytest.mark.parametrize("options, more_warnings", [
    (["-q", "-o", "old", "--stats", "stats"], None),  # with -q, not even lost ranges are listed
    (["-o", "old"], []),
    (["-o", "new", "--stats", "/dev/full"], ["--stats: cannot write /dev/full after byte 0: No space left on device"]),
    (["-q", "-o", "new", "--trace", "/dev/full"], None),
])
def test_the_output_file_is_kept(key, options, more_warnings):
    got = stream("--salvage", "-k", key, "-i", "damaged", *options, status=4)
    assert (got.error, got.warnings) == (LOST, [] if more_warnings is None else [WARNING, *more_warnings])
    expect_same(RECOVERED, content("old" if "old" in options else "new"))
    assert "stats" not in options or json.loads(content("stats"))["bytes_out"] == 100000


NO_KEY = "none of the given keys opens the input"
LABEL = "the input is corrupt at byte 119, in its header, or was encrypted with a different label; nothing was written"
SLOTS = "the input is corrupt at byte 17, in its header: it has 0 key slots; 1 to 32 are allowed; nothing was written"
UNKNOWN = "the input is not in a known format"
CUT = "the input is truncated after byte 174, in its header; nothing was written"
RECIPE = "if the header is damaged, put back a copy of it (gpuaes-recipes(7))"
FORMATS = "authenticated formats: sealed, age, cobblestone"


@pytest.mark.parametrize("options, status, error, hint", [
    ("--salvage -k wrong -i damaged -o old", 3, f"damaged: {NO_KEY}", RECIPE),
    ("-q -k KEY --salvage -i header-10 -o old", 4, f"header-10: {UNKNOWN}", RECIPE),
    ("-q -k KEY --salvage -i header-17 -o old", 4, f"header-17: {SLOTS}", RECIPE),
    ("-q -k KEY --salvage -i header-30 -o old", 3, f"header-30: {NO_KEY}", RECIPE),
    ("-q -k KEY --salvage -i header-150 -o old", 4, f"header-150: {LABEL}", RECIPE),
    ("-q -k KEY --salvage -f cobblestone -i bare -o old", 3,
     "bare: this key and context do not open the input", RECIPE),
    ("-q -k KEY --salvage -i cut -o old", 4, f"cut: {CUT}", RECIPE),
    ("-q -k KEY --salvage -i damaged -o /dev/full", 1, "cannot write /dev/full after byte 0: No space left on device",
     "free some space, or write to another file system"),
    (f"-f raw --iv {IV} -q -k KEY --salvage -i sealed", 2,
     "the raw format is not authenticated, so --salvage cannot verify anything", FORMATS),
])
def test_nothing_is_recovered(key, options, status, error, hint):
    before = files_here()
    got = stream(*options.replace("KEY", key).split(), status=status)
    assert (got.out, got.error, got.hint) == (b"", error, hint)
    assert content("old") == b"old" and files_here() == before


def test_the_output_is_not_kept_if_a_signal_ends_the_run(key):
    before = files_here()
    r, w = os.pipe()
    child = start("gpuaes-stream", "-q", "-k", key, "--salvage", "-o", "old", stdin=r)
    os.write(w, content("damaged")[:50000])
    wait_until_idle(child)
    expect_death_by(child, signal.SIGTERM)
    os.close(r)
    os.close(w)
    assert content("old") == b"old" and files_here() == before
