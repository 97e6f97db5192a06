"""--sparse."""

import os
import pathlib

import pytest

from programs import flipped, some_bytes, stream

HOLE = bytes(4096)


def allocated(name):
    return os.stat(name).st_blocks * 512


@pytest.mark.parametrize("plain", [
    b"", b"\0", bytes(1000000), some_bytes(5000) + bytes(300000),
    b"".join(some_bytes(4096) + 5 * HOLE for _ in range(40)), b"x" + bytes(100000) + b"x" + bytes(100000) + b"x",
], ids=["empty", "one zero", "zeros", "zeros last", "alternating", "unaligned"])
@pytest.mark.parametrize("options", [[], ["-b", "16K"], ["-b", "64K", "-l", "cpu:3"]])
def test_blocks_of_zeros_become_holes(key, plain, options):
    stream("-k", key, "-o", "sealed", input=plain)
    stream("-d", "-k", key, "--sparse", *options, "sealed", "-o", "out")
    assert pathlib.Path("out").read_bytes() == plain
    full_blocks = sum(any(plain[at : at + 4096]) for at in range(0, len(plain), 4096))
    assert allocated("out") <= (full_blocks + 1) * 4096  # with the list of extents


def test_a_range_that_begins_anywhere(key):
    plain = some_bytes(20000) + bytes(200000) + some_bytes(20000)
    stream("-k", key, "-o", "sealed", input=plain)
    for begin in (1, 19999, 20001, 100000):
        stream("--range", f"{begin}:", "-k", key, "--sparse", "sealed", "-o", "out")
        assert pathlib.Path("out").read_bytes() == plain[begin:]
        assert allocated("out") < 60000


def test_segments_that_salvage_loses_become_holes(key):
    stream("-k", key, "-o", "sealed", input=some_bytes(1000000))
    pathlib.Path("sealed").write_bytes(flipped(pathlib.Path("sealed").read_bytes(), *range(1000, 900000, 16400)))
    stream("--salvage", "-q", "-k", key, "--sparse", "sealed", "-o", "out", status=4)
    assert os.stat("out").st_size == 1000000
    assert allocated("out") < 200000


def test_an_open_file_keeps_what_it_contains(key):
    stream("-k", key, "-o", "sealed", input=bytes(100000))
    with open("out", "wb") as out:
        out.write(b"before")
        out.flush()
        stream("-d", "-k", key, "--sparse", "sealed", "-o", "/dev/stdout", stdout=out)
    assert pathlib.Path("out").read_bytes() == b"before" + bytes(100000)
