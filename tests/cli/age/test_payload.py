"""Segments that were moved, cut or changed: the same bytes and exit status as the independent implementation."""

import os

import pytest

import age_format as age
import sealed_format as sf
from matrix import dealt_to_lanes
from programs import expect_same, some_bytes, stream

FILE_KEY, SALT = bytes(range(16)), bytes(range(50, 66))
HEAD = age.header(FILE_KEY, [age.x25519_stanza(FILE_KEY)]) + SALT
SIZES = [0, 1, 65535, 65536, 65537, 2 * 65536, 2 * 65536 + 1, 4 * 65536 + 9, 5 * 65536]


def expected(data):
    """The exit status and the plaintext."""
    try:
        return 0, age.open_age(data)
    except sf.Unopened as error:
        return error.exit, getattr(error, "plaintext", b"")


def check(batch, identity, payloads, *options):
    """Opens each list of segments, on several lanes, from a pipe and a file, in small and large chunks."""
    cases = [(HEAD + b"".join(payload), via, chunk) for payload in payloads
             for via, chunk in (("pipe", "64K"), ("file", "192K"))]
    for run, lane, (data, via, chunk) in dealt_to_lanes(batch, cases):
        status, plain = expected(data)
        got = run("-q", "-d", "-k", identity, "-l", lane, "-b", chunk, *options, input=data, via=via, status=status)
        expect_same(plain, got.out, (len(data), via, chunk, lane))


@pytest.mark.parametrize("size", SIZES)
def test_round_trip(identity, size):
    plain = os.urandom(size)
    for chunk, via in ("64K", "pipe"), ("128K", "file"), ("1M", "pipe"):
        sealed = stream("-f", "age", "-r", age.recipient_text(), "-b", chunk, input=plain, via=via).out
        expect_same(plain, age.open_age(sealed), (size, chunk, via))
        opened = stream("-d", "-k", identity, "-b", chunk, input=sealed, via=via).out
        expect_same(plain, opened, (size, chunk, via))


def test_segments_moved_or_missing(batch, identity):
    for size in (3 * 65536, 3 * 65536 + 100):
        parts = age.segments(FILE_KEY, SALT, some_bytes(size))
        swapped = [parts[:i] + [parts[i + 1], parts[i]] + parts[i + 2 :] for i in range(len(parts) - 1)]
        repeated = [parts[: i + 1] + parts[i:] for i in range(len(parts))]
        removed = [parts[:i] + parts[i + 1 :] for i in range(len(parts))]
        check(batch, identity, swapped + repeated + removed)


def test_cut_at_every_boundary(batch, identity):
    for size in (2 * 65536, 2 * 65536 + 50):
        whole = b"".join(age.segments(FILE_KEY, SALT, some_bytes(size)))
        ends = [end for i in range(3) for end in (i * age.SEALED - 1, i * age.SEALED, i * age.SEALED + 1,
                                                  i * age.SEALED + 15, i * age.SEALED + 16, i * age.SEALED + 17)]
        check(batch, identity, [[whole[:end]] for end in ends if 0 <= end < len(whole)])


def test_flags(batch, identity):
    """Every pattern of flags of three segments. The last one is empty, short or full."""
    for last in (0, 20, 65536):
        sizes = (65536, 65536, last)
        check(batch, identity, [[age.segment(FILE_KEY, SALT, i, flags >> i & 1, some_bytes(sizes[i])) for i in range(3)]
                                for flags in range(8)])


def test_two_ends(batch, identity):
    """A last segment, and another one after it."""
    ends = [age.segment(FILE_KEY, SALT, i, True, some_bytes(size)) for i in (0, 1) for size in (0, 20, 65536)]
    check(batch, identity, [[first, second] for first in ends[:3] for second in ends[3:]])


def test_any_changed_byte(batch, identity):
    whole = b"".join(age.segments(FILE_KEY, SALT, some_bytes(65536 + 300)))
    places = [0, 1, 100, 65535, 65536, 65551, 65552, 65553, len(whole) - 17, len(whole) - 16, len(whole) - 1]
    check(batch, identity, [[whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]] for at in places])
