"""--range writes nothing unless the input is complete and contains the range. Like --part, it refuses unsuitable inputs
and options."""

import os
import pathlib

import pytest

from programs import (IV, KEY, OTHER_KEYS, RAW, each_way, expect_same, files_here, openssl_ctr, secret_file,
                      some_bytes, stream)

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402
from damage import HEADER, SEALED, SEGMENT, flip  # noqa: E402

PLAIN = some_bytes(3 * SEGMENT + 1000)
SIZE = len(PLAIN)
SALVAGE = "use --salvage to recover the undamaged parts"
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
            yield data[:end], text, 4, error, SALVAGE
    yield data[: start - 1], "0:10", 4, header, ""
    yield flip(data, len(data) - 1), "0:10", 4, damaged.format(start + 3 * SEALED), SALVAGE
    yield data + b"x" * SEALED, "0:10", 4, damaged.format(start + 4 * SEALED), SALVAGE
    trailing = (f"the stream ends at byte {len(data)}, but the input has trailing bytes; "
                "0 bytes of plaintext before the last segment were verified")
    size = len(data)
    hint = f"the first {size} bytes are a complete stream; decrypt only those, for example with head -c {size}"
    yield data + b"x", "0:10", 4, trailing, hint
    yield data + b"x" * 16, "0:10", 4, trailing, hint
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
    damaged = flip(data, start + SEALED + 77)
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


# --- Options and inputs that do not fit ----------------------------------------------------------------------------

SEEKABLE = "name a file with -i, or redirect standard input from a file"
FORMATS = "formats that support it: sealed, age, cobblestone, raw"
USAGE = (
    "use OFFSET:LENGTH, or OFFSET: for the rest of the plaintext, as in 1000:64K or 10GiB:")
PART = "use I/N, for example 0/4, with I less than N, and N at most 1048576"
INFO = "--info accepts only --input, --format, --decrypt, --json, --verbose and --quiet"
SHORT = "shorter: the input is corrupt or truncated at byte 82175; 0 bytes of plaintext before that were verified"


@pytest.fixture
def files(key):
    data = stream("-q", "-k", key, "-e", input=some_bytes(100000)).out
    for name, content in {"sealed": data, "shorter": data[:90000], "wrong": bytes(32), "words": b"words\n"}.items():
        secret_file(name, content)
    stream("-q", "-k", key, "-a", "-o", "armored", input=PLAIN)
    stream("-q", "-f", "openssl", "--passphrase-file", "words", "-o", "openssl", input=PLAIN)
    os.mkfifo("fifo")
    return files_here()


@pytest.mark.parametrize("options, status, error, hint", [
    ("--range 0:1 -f openssl --passphrase-file words -i openssl", 2,
     "the openssl format does not support --range", FORMATS),
    ("-f openssl -d --part 0/2 --passphrase-file words -i sealed", 2,
     "the openssl format does not support --part", FORMATS),
    ("-k KEY --range 0:1 -e -i sealed", 2, "--range and --encrypt cannot be used together", ""),
    ("-k KEY --range 0:1 --test -i sealed", 2, "--test and --range cannot be used together", ""),
    ("--range 0:1 --info -i sealed", 2, "--info cannot be used with --range", INFO),
    ("-k KEY --part 0/2 --salvage -i sealed", 2, "--salvage and --part cannot be used together", ""),
    ("-k KEY --part 0/2 --range 0:1 -i sealed", 2, "--range and --part cannot be used together", ""),
    ("-k KEY --part 0/2 -e -i sealed", 2, "--part and --encrypt cannot be used together", ""),
    ("-k KEY --range= -i sealed", 2, "option '--range' requires a value",
     "--range OFFSET:[LENGTH]: Decrypt only LENGTH bytes of plaintext at OFFSET, or everything from there to the end"),
    ("-k KEY --part= -i sealed", 2, "option '--part' requires a value",
     "--part I[/N]: Decrypt only share I of N; or, with I alone, part I of a file made of parts"),
    ("-k KEY --range 1:x -i sealed", 2, "invalid range '1:x'", USAGE),
    ("-k KEY --range 0:1", 2, "--range requires a seekable input", SEEKABLE),
    ("-k KEY -d --range 0:1", 2, "--range requires a seekable input", SEEKABLE),
    ("-k KEY -f sealed --range 0:1", 2, "--range requires a seekable input", SEEKABLE),
    (f"-k KEY -f raw --iv {IV} --range 0:1", 2, "--range requires a seekable input", SEEKABLE),
    ("-k KEY --part 0/2", 2, "--part requires a seekable input", SEEKABLE),
    ("-k KEY --range 0:1 -i fifo -o out", 2, "--range requires a seekable input", SEEKABLE),
    (f"-f raw --iv {IV} -k KEY -d --range 0: -i /proc/cpuinfo", 2, "--range requires a seekable input", SEEKABLE),
    ("-k KEY -f age --range 0:1", 2, "--range requires a seekable input", SEEKABLE),
    ("-k KEY -f age --part 0/2", 2, "--part requires a seekable input", SEEKABLE),
    ("-k KEY --part 0/2 -i armored", 2, "armored: --part does not work on armored input",
     "remove the armor first, with sed /^-----/d FILE | base64 -di"),
    ("-k KEY --range 0:1M -i sealed -o out", 2, BEYOND.format(100000), REST),
    ("-k KEY --range 0:1 -i shorter -o out", 4, SHORT, SALVAGE),
    ("-k wrong --range 0:1 -i sealed", 3, "sealed: none of the given keys opens the input", OTHER_KEYS),
])
def test_nothing_is_written(key, files, options, status, error, hint):
    fifo = os.open("fifo", os.O_RDWR)
    data = pathlib.Path("sealed").read_bytes()
    os.write(fifo, data[:1000])
    got = stream("-q", *options.replace("KEY", key).split(), input=data, status=status)
    os.close(fifo)
    assert (got.out, got.error, got.hint) == (b"", error, hint)
    assert files_here() == files
    if "-i" not in options:
        with open("/dev/zero", "rb") as zero:  # also not seekable
            assert stream("-q", *options.replace("KEY", key).split(), stdin=zero, status=2).error == error


@pytest.mark.parametrize("option, texts, hint", [
    ("range", [":", "1", "1:-1", "-1:1", "1:2:3", ":1", "0x1:1", "1k:1", "1KK:1", "1:1P", " 1:1", "1:1 ",
               "18446744073709551616:1", "16777216T:1", "1.5:1"], USAGE),
    ("part", ["4/4", "5/4", "0/0", "0/1048577", "1048576", "/4", "4/", "-1/4", "1/4/2", "1:4", "1K/2K",
              "99999999999999999999/4"], PART),
])
def test_invalid_values(key, files, option, texts, hint):
    for text in texts:
        got = stream("-q", "-k", key, f"--{option}={text}", "-i", "sealed", status=2)
        assert (got.error, got.hint) == (f"invalid {option} '{text}'", hint)
