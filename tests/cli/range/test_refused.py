"""--range writes nothing unless the input is complete and contains the range."""

import pytest

from programs import AGAIN_OR_SALVAGE, KEY, RAW, each_way, expect_same, flipped, openssl_ctr, some_bytes, stream

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402
from damage import HEADER, SEALED, SEGMENT  # noqa: E402

PLAIN = some_bytes(3 * SEGMENT + 1000)
SIZE = len(PLAIN)
REST = "--range OFFSET: decrypts to the end"
BEYOND = "the range extends past the end of the plaintext, which has {} bytes"


@pytest.fixture(params=["sealed", "cobblestone"])
def sealed(request, key):
    """A stream with PLAIN, where its segments begin, and the options to decrypt it."""
    if request.param == "sealed":
        return sf.seal(PLAIN, [KEY]), HEADER, ["-q", "-k", key]
    return sf.message(KEY, b"", PLAIN), 56, ["-q", "-k", key, "-f", "cobblestone"]


def unsuitable(data, start):
    """Inputs and ranges, with the exit status, error and hint."""
    header = f"the input is truncated after byte {start - 1}, in its header; nothing was written"
    cut = "the input is truncated after byte {}; 0 bytes of plaintext before that were verified"
    damaged = "the input is corrupt or truncated at byte {}; 0 bytes of plaintext before that were verified"
    for end in [start + i * SEALED + n for i in range(4) for n in (0, 1, 15, 16, 17, 1000)] + [len(data) - 1]:
        whole, more = divmod(end - start, SEALED)
        error = cut.format(end) if more < 16 else damaged.format(start + whole * SEALED)
        for text in ("0:10", "0:0"):  # the whole range remains
            yield data[:end], text, 4, error, AGAIN_OR_SALVAGE
    yield data[: start - 1], "0:10", 4, header, "copy or download it again"
    yield flipped(data, len(data) - 1), "0:10", 4, damaged.format(start + 3 * SEALED), AGAIN_OR_SALVAGE
    yield data + b"x" * SEALED, "0:10", 4, damaged.format(start + 4 * SEALED), AGAIN_OR_SALVAGE
    yield data + b"x" * 16, "0:10", 4, damaged.format(start + 3 * SEALED), AGAIN_OR_SALVAGE
    huge = 2**64 - 1
    for text in ("1T:0", "16777215T:1023G", f"{SIZE + 1}:0", f"{SIZE + 1}:", f"{huge}:{huge}"):
        yield data, text, 2, BEYOND.format(SIZE), ""
    for text in (f"{SIZE}:1", f"0:{SIZE + 1}", f"1:{SIZE}", f"1:{huge}"):
        yield data, text, 2, BEYOND.format(SIZE), REST


def test_the_input_must_be_complete_and_contain_the_range(batch, sealed):
    data, start, options = sealed
    for run, (changed, text, status, error, hint) in each_way(batch, unsuitable(data, start)):
        got = run("--range", text, *options, input=changed, via="file", status=status)
        assert (got.out, got.error, got.hint) == (b"", error, hint)


def test_damage_matters_only_within_the_range(batch, sealed):
    """The good bytes before it are written, and counted from OFFSET."""
    data, start, options = sealed
    damaged = flipped(data, start + SEALED + 77)
    for begin, text in ((0, f"0:{SEGMENT}"), (2 * SEGMENT, f"{2 * SEGMENT}:")):
        got = stream("--range", text, *options, input=damaged, via="file")
        expect_same(PLAIN[begin:][: SEGMENT if begin == 0 else None], got.out)
    offsets = (0, 1, 10000, SEGMENT - 1, SEGMENT, SEGMENT + 1, 2 * SEGMENT - 1)
    for run, (offset, chunk) in each_way(batch, [(offset, chunk) for offset in offsets for chunk in ("16K", "1M")]):
        got = run("--range", f"{offset}:{SEGMENT + 1}", "-b", chunk, *options, input=damaged, via="file", status=4)
        expect_same(PLAIN[offset:SEGMENT], got.out)
        assert got.error == (f"the input is corrupt at byte {start + SEALED}; "
                             f"{max(SEGMENT - offset, 0)} bytes of plaintext before that were verified")


@pytest.mark.parametrize("size", [0, 1, 16, 1000])
def test_the_raw_format_is_only_checked_for_its_length(key, size):
    data, options = openssl_ctr(PLAIN[:size]), [*RAW, "-k", key, "--range"]
    expect_same(PLAIN[:size], stream(*options, "0:", input=data, via="file").out)
    for text, hint in ((f"{size + 1}:0", ""), (f"{size}:1", REST), (f"0:{size + 1}", REST)):
        got = stream(*options, text, input=data, via="file", status=2)
        assert (got.out, got.error, got.hint) == (b"", BEYOND.format(size), hint)
