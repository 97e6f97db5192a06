"""Files made of parts by an independent implementation open on each lane, from pipes and files, and with --range."""

import os
import pathlib

import pytest

from programs import KEY, SANITIZED, each_way, expect_same, lanes, some_bytes, spread, stream

pytest.importorskip("cryptography")
import parts_format as pf  # noqa: E402
from parts_damage import READERS, pieces_of  # noqa: E402

LENGTHS = [0, 5, 16384, 0, 0, 16383, 40000, 1, 16385, 200000, 32768, 3, 0]  # of parts, some of them in one chunk
CHUNKS = (["-b", "16K"], ["-b", "64K"], ["-b", "1M"], [])


def expect_open(data, plain, *options):
    """Both implementations open the data, from a pipe and from a file."""
    for via, reader in READERS.items():
        assert pf.outcome(reader(data, key=KEY)) == (0, plain)
        expect_same(plain, stream("-q", "-d", *options, input=data, via=via).out, options)


def seal(lengths):
    """The plaintext and a file with parts of these lengths, which does not state their number in each part."""
    pieces, plain = pieces_of(lengths)
    job = pf.new_job(keys=[KEY])
    return plain, pf.join(job, pf.seal_parts(job, pieces))


@pytest.mark.parametrize("k, lane", enumerate(lanes()))
def test_parts_of_equal_and_any_lengths(key, k, lane):
    slow = SANITIZED or lane.startswith("cuda")
    sizes = [0, 1, 16383, 16384, 16385, 32768, 49152, 70001]
    for i, size in list(enumerate(sizes))[k % 3 :: 3] if slow else enumerate(sizes):
        plain, parts = some_bytes(size), (1, 2, 3, 7)[(i + k) % 4]  # some of them empty
        options = ["-k", key, "-l", lane, *(["-b", "16K"], ["-b", "64K"], [])[i % 3]]
        expect_open(pf.seal(plain, parts, keys=[KEY]), plain, *options)
        if size < 20000:
            expect_open(pf.seal(plain, parts, suite=4, keys=[KEY]), plain, *options, "-c", "kuznyechik")
    plain, sealed = seal(LENGTHS)
    for chunk in spread(CHUNKS, 2) if slow else CHUNKS:
        expect_open(sealed, plain, "-k", key, "-l", lane, *chunk)
    plain, sealed = seal([10] * 3000)  # the index has several segments
    expect_open(sealed, plain, "-k", key, "-l", lane)


def test_ranges_around_the_boundaries_of_parts(batch, key):
    plain, sealed = seal(LENGTHS)
    pathlib.Path("sealed").write_bytes(sealed)
    begins = [sum(LENGTHS[:i]) for i in range(len(LENGTHS) + 1)]
    near = sorted({at + n for at in begins for n in (-1, 0, 1, 17) if 0 <= at + n <= len(plain)})
    cases = [(begin, end) for i, begin in enumerate(near) for end in near[i::5]]
    cases = spread(cases, len(cases) // 10) if SANITIZED else cases
    for i, (run, (begin, end)) in enumerate(each_way(batch, cases)):
        lane = lanes()[i % len(lanes())] if i % 8 == 0 else "cpu:1"
        run = stream if lane.startswith("cuda") else run
        options = ["--range", f"{begin}:{end - begin}", "-k", key, "-l", lane, *([], ["-b", "16K"])[i % 2]]
        expect_same(plain[begin:end], run("-q", *options, "-i", os.path.abspath("sealed")).out, options)
