"""--range OFFSET:LENGTH and --share I/N give exactly these bytes of the plaintext, for every format that has ranges."""

import os
import pathlib
import random
import subprocess
import tempfile

import pytest

from matrix import dealt_to_lanes
from processes import read_terminal, start_on_terminal
from programs import (IV, KEY, PATIENCE, SANITIZED, Result, check, each_way, expect_same, larger_files, openssl_ctr, raw,
                      secret_file, some_bytes, stream)
from special_files import loop_device

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402
from damage import HEADER, SEALED, SEGMENT  # noqa: E402


def ranges_of(size):
    """Ranges around boundaries of blocks and segments, and up to the end."""
    near = {0, 1, 15, 16, 17, *(size - n for n in (0, 1, 15, 16, 17)),
            *(i * SEGMENT + n for i in range(size // SEGMENT + 2) for n in (-1, 0, 1))}
    near = sorted(n for n in near if 0 <= n <= size)
    return [(a, b - a) for a in near for b in near if b >= a]


def write(name, data):
    pathlib.Path(name).write_bytes(data)
    return ["-i", os.path.abspath(name)]


KINDS = {
    "sealed": ([], lambda plain: sf.seal(plain, [KEY])),
    "kuznyechik": ([], lambda plain: sf.seal(plain, [KEY], suite=2) if len(plain) <= 2 * SEGMENT else None),
    "cobblestone": (["-f", "cobblestone"], lambda plain: sf.message(KEY, b"", plain)),
    "cobblestone-128": (["-f", "cobblestone", "--context", "01"], lambda plain: sf.message(KEY[:16], b"\1", plain)),
    "raw": (["-f", "raw", "--iv", IV], openssl_ctr),
    "raw-kuznyechik": (["-f", "raw", "--iv", IV[:16], "-c", "kuznyechik"], lambda plain: None),
}


@pytest.mark.parametrize("size", [0, 5, 2 * SEGMENT, 3 * SEGMENT + 1000, 1000003])  # large files are read in parallel
@pytest.mark.parametrize("kind", KINDS)
def test_boundaries_of_blocks_and_segments(batch, work, key, kind, size):
    plain = some_bytes(size)
    more, seal = KINDS[kind]
    options = ["-q", "-k", secret_file(work / "key128", KEY[:16]) if kind == "cobblestone-128" else key, *more]
    data = seal(plain)
    if data is None:
        data = stream(*options, *([] if "-c" in options else ["-c", "kuznyechik"]), input=plain).out
    options += write("file", data)
    cases = ranges_of(size)
    cases = random.Random(1).sample(cases, min(12 if SANITIZED else 40, len(cases)))
    for run, lane, (offset, length) in dealt_to_lanes(batch, cases):
        got = run("--range", f"{offset}:{length}", "-l", lane, "-b", "16K", *options)
        expect_same(plain[offset : offset + length], got.out, f"{offset}:{length}")
        assert got.err == ""
    for offset in {0, size // 2, size}:
        expect_same(plain[offset:], stream("--range", f"{offset}:", *options).out, f"{offset}:")


@pytest.mark.parametrize("format", ["sealed", "raw", "cobblestone"])
def test_parts_together_are_the_plaintext(batch, key, format):
    """Each begins at a multiple of 16384 bytes. Some are empty if there are more parts than segments."""
    options = ["-q", "-k", key, "-f", format, *(["--iv", IV] if format == "raw" else [])]
    files = []
    for size in (0, 1, 16383, 16384, 16385, 49152, 200001):
        sealed = batch.stream(*options, input=some_bytes(size)).out
        files += [(size, write(f"{size}", sealed), count) for count in (1, 2, 3, 7, 14)]
    for run, (size, source, count) in each_way(batch, files):
        together = b""
        for i in range(count):
            assert len(together) % SEGMENT == 0 or len(together) == size
            together += run("-d", *options, *source, "--share", f"{i}/{count}", "-b", "16K").out
        expect_same(some_bytes(size), together, f"{size} bytes in {count} parts")
    if format == "sealed":
        assert stream("-q", "-k", key, "--share", "1048575/1048576", "-i", "200001").out == b""


@pytest.fixture
def sparse():
    """Makes a sparse file of that size."""
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with larger_files(), tempfile.TemporaryDirectory(dir=memory) as folder:
        for name in ("large", f"{folder}/large"):
            try:
                pathlib.Path(name).touch()
                os.truncate(name, HEADER + (2**32 + 8) * SEALED)
                break
            except OSError:
                os.unlink(name)
        else:
            pytest.skip("cannot create a file of 64 TiB")
        yield name


@pytest.mark.parametrize("suite", [1, 2])
def test_beyond_4_billion_segments(key, sparse, suite):
    first, plain, file_key = 2**32 + 5, some_bytes(2 * SEGMENT + 100), bytes(range(32))
    header = sf.header(file_key, [sf.key_slot(file_key, KEY)], suite=suite)
    aead, nonce_of, aad, commitment = sf.suite_of(suite, file_key, header[:17], bytes(24))
    with open(sparse, "r+b") as file:
        file.write(header + bytes(24) + commitment)
        for i in range(3):
            file.seek(HEADER + (first + i) * SEALED)
            file.write(aead.encrypt(nonce_of(first + i), plain[i * SEGMENT : (i + 1) * SEGMENT], aad))
        file.truncate()
    begin = first * SEGMENT
    for offset, length in ((0, 100), (10, 2 * SEGMENT), (SEGMENT, SEGMENT), (2 * SEGMENT + 50, 50), (0, "")):
        got = stream("-q", "--range", f"{begin + offset}:{length}", "-k", key, "-i", sparse)
        expect_same(plain[offset:][: length or None], got.out, f"{offset}:{length}")
    got = stream("-q", "--range", f"{begin - 5}:10", "-k", key, "-i", sparse, status=4)
    at = HEADER + (first - 1) * SEALED  # in the hole
    assert got.error == f"{sparse}: the input is corrupt at byte {at}; 0 bytes of plaintext before that were verified"
    got = stream("-q", "--range", f"{begin}:1M", "-k", key, "-i", sparse, status=2)
    size = begin + len(plain)
    assert got.error == f"the range extends past the end of the plaintext, which has {size} bytes"


# --- Standard input, devices, and files that change ----------------------------------------------------------------


@pytest.mark.parametrize("before", [0, 12345])
def test_standard_input_is_left_after_the_bytes_that_were_used(key, before):
    """Also if the stream begins within the file."""
    plain = some_bytes(200000)
    write("file", bytes(before) + stream("-q", "-k", key, "-e", input=plain).out)
    with open("file", "rb", buffering=0) as file:
        file.seek(before)
        expect_same(plain[50000:51000], stream("-q", "-k", key, "--range", "50000:1000", stdin=file).out)
        assert file.tell() == before + HEADER + 4 * SEALED  # after segment 3


@pytest.mark.root
def test_a_block_device(key):
    """Only the raw format can fill a device of whole sectors exactly."""
    plain = some_bytes(512 * 2000)
    with loop_device(raw(key, input=plain).out) as device:
        expect_same(plain[70000:71000], raw(key, "--range", "70000:1000", "-i", device).out)


WORDS = b"correct horse"
COMPLETE = sf.seal(some_bytes(100000), passphrase=WORDS, log_n=10)
START = len(COMPLETE) - 100000 - 7 * 16  # of the segments
SHRANK = f"file shrank while it was being read, from {len(COMPLETE)} to {{}} bytes"
LAST = START + 6 * SEALED  # the last segment, where reading begins
CUT = "file: the input is truncated after byte {}; 0 bytes of plaintext before that were verified"


@pytest.mark.parametrize("offset, length", [(99000, ""), (10, 100)])
@pytest.mark.parametrize("before, after, status, error", [
    (len(COMPLETE), COMPLETE + COMPLETE, 0, ""),
    (len(COMPLETE), COMPLETE[:-1], 1, SHRANK.format(len(COMPLETE) - 1)),
    (len(COMPLETE), COMPLETE[:START], 1, SHRANK.format(LAST)),
    (START, COMPLETE, 4, CUT.format(START)),
    (START + SEALED, COMPLETE, 4, CUT.format(START + SEALED)),
], ids=lambda value: len(value) if isinstance(value, bytes) else str(value))
def test_the_size_of_a_file_when_it_is_opened_counts(before, after, status, error, offset, length):
    """It changes while the program waits for the passphrase."""
    write("file", COMPLETE[:before])
    options = ["-q", "-p", "-i", "file", "--range", f"{offset}:{length}"]
    pipe = subprocess.PIPE
    child, terminal = start_on_terminal("gpuaes-stream", *options, stdout=pipe, stderr=pipe)
    read_terminal(terminal, lambda seen: seen.endswith(b"Enter passphrase for file: "))
    with open("file", "r+b") as file:
        file.write(after)
        file.truncate()
    os.write(terminal, WORDS + b"\n")
    out, err = child.communicate(timeout=PATIENCE)
    assert check(Result(child.returncode, out, err.decode()), options, status).error == error
    expect_same(some_bytes(100000)[offset:][: length or None] if status == 0 else b"", out)
