"""Sealed data opens again, also in an independent implementation, whatever its size, the lane and the chunk size."""

import itertools

import pytest

from matrix import on_each_lane
from programs import KEY, each_way, expect_same, some_bytes, stream

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402
from damage import HEADER, SEGMENT  # noqa: E402


def sealed_size(size):
    """With one key."""
    return HEADER + size + 16 * (size // SEGMENT + 1)


@pytest.mark.parametrize("suite, cipher, sizes", [
    (1, [], [0, 1, 15, 16, 17, 4099, 16383, 16384, 16385, 32768, 300001]),
    (2, ["-c", "kuznyechik"], [0, 1, 15, 16, 17, 511, 513, 4099, 16383, 16384, 16385, 32768, 50001]),
])
def test_an_independent_implementation_agrees(batch, key, suite, cipher, sizes):
    salts = []
    independent = {size: sf.seal(some_bytes(size), [KEY], suite=suite) for size in sizes}
    for run, lane, (size, chunk) in on_each_lane(batch, itertools.product(sizes, ["16K", "64K"]), 3):
        options, plain, what = ["-q", "-k", key, "-l", lane, "-b", chunk], some_bytes(size), (size, lane, chunk)
        sealed = run(*cipher, *options, input=plain, via="file").out
        assert sealed[:23] == b"gpuaes-stream/1\n" + bytes([suite, 1, 0, 67, 1, 0, 64]), what
        assert len(sealed) == sealed_size(size), what
        salts += [sealed[23:39], sealed[119:143]]
        if chunk == "16K" or size > SEGMENT:  # with one chunk, its size does not matter
            expect_same(plain, sf.open_sealed(sealed, key=KEY), what)
        expect_same(plain, run("-d", *options, input=independent[size]).out, what)
    assert len(set(salts)) == len(salts)


def test_the_format_does_not_depend_on_chunk_size_and_lanes(batch, key):
    plain = some_bytes(300001)
    ways = ["-l cpu:1 -b 1", "-l cpu:1 -b 16K", "-l cpu:3 -b 16K", "-l cpu:2 -b 20000", "-l cpu:3 -b 48K",
            "-l cpu:1 -b 16M", "", "-e"]
    files = [stream("-q", "-k", key, *way.split(), input=plain, via="file").out for way in ways]
    assert {len(sealed) for sealed in files} == {sealed_size(len(plain))}
    openings = itertools.product(["-l cpu:1 -b 1", "-l cpu:3 -b 30000", "-l cpu:3 -b 1M", ""], files)
    for run, (way, sealed) in each_way(batch, openings):
        expect_same(plain, run("-q", "-k", key, "-d", *way.split(), input=sealed, via="file").out, way)
    # Two files have only the 23 bytes before the first slot's salt in common. Success prints no message.
    made = stream("-k", key, input=plain, via="file")
    assert made.err == stream("-k", key, "-d", input=made.out, via="file").err == ""
    one, two = files[0], made.out
    assert one[:23] == two[:23]
    for begin, end in (23, 39), (39, 87), (87, 119), (119, 143), (143, 175), (175, 16575):
        assert one[begin:end] != two[begin:end], f"bytes {begin} to {end}"
