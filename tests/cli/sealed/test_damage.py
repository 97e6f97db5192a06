"""A change to the segments of a sealed file ends decryption there, with status 4 and exactly the segments before it as
output. Bytes after a complete stream damage its last segment."""

import itertools
import os
import pathlib

import pytest

from matrix import dealt_to_lanes
from programs import AGAIN_OR_SALVAGE, KEY, expect_same, files_here, flipped, some_bytes, spread, stream

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402
from damage import HEADER, SEALED, SEGMENT, expect_damage, open_independently  # noqa: E402

# A suite, and the size of a file. Kuznyechik is slow in Python.
each_suite = pytest.mark.parametrize("suite, size", [(1, 4 * SEGMENT + 1000), (2, 2 * SEGMENT + 1000)])


def expect_damage_independently(changed, good, plain):
    status, opened = open_independently(changed)
    assert status == 4
    expect_same(plain[: good * SEGMENT], opened, "independent reader")


def check(batch, key, plain, cases, suite, chunks=(["-b", "16K"], [])):
    """Each case is a changed file, and the number of segments before the change."""
    for case in cases:
        expect_damage_independently(*case, plain)
    for i, (run, lane, ((changed, good), chunk)) in enumerate(dealt_to_lanes(batch, itertools.product(cases, chunks))):
        via, cut = ("pipe", "file")[(i + i // 2) % 2], len(changed) - HEADER - good * SEALED < 16
        found = expect_damage(run, key, changed, good, plain, "-l", lane, *chunk, cut=cut, via=via)
        assert found.hint == AGAIN_OR_SALVAGE


@each_suite
def test_a_changed_segment(batch, key, suite, size):
    plain = some_bytes(size)
    sealed = sf.seal(plain, [KEY], suite=suite)
    cases = []
    for i in range(size // SEGMENT + 1):
        first, end = HEADER + i * SEALED, min(HEADER + (i + 1) * SEALED, len(sealed))
        cases += [(flipped(sealed, at, bit=at % 8), i) for at in (first, (first + end) // 2, end - 17, end - 16, end - 1)]
    check(batch, key, plain, cases, suite, (["-b", "16K"], ["-b", "48K"], []))


def test_the_first_of_several_changed_segments_counts(batch, key):
    """Even if many chunks are being processed."""
    plain = some_bytes(100 * SEGMENT)
    sealed = sf.seal(plain, [KEY])
    ways = [("16K", "pipe"), ("64K", "file"), ("64K", "pipe"), ("1M", "file")]
    rows = itertools.product([[0], [37], [50, 51], [75, 99], [100]], ways)
    for run, lane, (bad, (chunk, via)) in dealt_to_lanes(batch, rows):
        changed = sealed
        for i in bad:
            changed = flipped(changed, HEADER + i * SEALED + 5)
        expect_damage(run, key, changed, bad[0], plain, "-l", lane, "-b", chunk, via=via)


def test_the_offset_of_the_segments_depends_on_the_slots(key):
    sealed = sf.seal(some_bytes(40000), [bytes(32), KEY])
    expect_damage(stream, key, flipped(sealed, HEADER + 67 + SEALED), 1, some_bytes(40000), start=HEADER + 67)


@each_suite
def test_segments_in_other_places_or_of_other_files(batch, key, suite, size):
    plain, file_key, n = some_bytes(size), os.urandom(32), size // SEGMENT
    sealed = sf.seal(plain, [KEY], file_key=file_key, suite=suite)
    # The same file key, slots and plaintext, but another salt.
    again = sf.seal(plain, slots=[sf.key_slot(file_key, KEY)], file_key=file_key, suite=suite)
    whole = sf.seal(plain[: n * SEGMENT], [KEY], suite=suite)  # its last segment is empty
    s, other = ([data[at : at + SEALED] for at in range(HEADER, len(data), SEALED)] for data in (sealed, again))

    def with_tag(segment, tag):
        return segment[:-16] + tag[-16:]

    cases = [
        (0, [s[1], s[0], *s[2:]]),
        (0, [s[n], *s[1:n], s[0]]),
        (1, [s[0], s[0], *s[2:]]),
        (1, [s[0], *s]),
        (n, [*s[:n], s[n - 1], s[n]]),
        (0, s[1:]),
        (n - 1, [*s[: n - 1], s[n]]),
        (0, [s[n]]),
        (n - 1, [*s[: n - 1], other[n - 1], s[n]]),
        (n, [*s[:n], other[n]]),
        (0, [with_tag(s[0], s[1]), with_tag(s[1], s[0]), *s[2:]]),
        (n - 1, [*s[: n - 1], with_tag(s[n - 1], s[n]), with_tag(s[n], s[n - 1])]),
        (1, [s[0], with_tag(s[1], bytes(16)), *s[2:]]),
        (1, [s[0], with_tag(s[1], other[1]), *s[2:]]),
        (n, [*s[:n], whole[-16:]]),
    ]
    if n > 2:
        cases += [(1, [s[0], s[3], s[2], s[1], s[4]]), (2, [*s[:2], *s[3:]]), (2, [*s[:2], other[2], *s[3:]])]
    cases = [(sealed[:HEADER] + b"".join(segments), good) for good, segments in cases]
    check(batch, key, plain, [*cases, (whole[:-16] + s[n], n), (whole[: HEADER + SEALED] + whole[-16:], 1)], suite)


@pytest.mark.parametrize("suite, size", [(1, 3 * SEGMENT + 1000), (1, 3 * SEGMENT), (1, 5), (2, 2 * SEGMENT + 1000)])
def test_a_truncated_file_never_looks_complete(batch, key, suite, size):
    plain = some_bytes(size)
    sealed = sf.seal(plain, [KEY], suite=suite)
    lengths = set()
    for start in range(HEADER, HEADER + size // SEGMENT * SEALED + 1, SEALED):
        end = min(start + SEALED, len(sealed))
        lengths |= {*(start + n for n in (0, 1, 15, 16, 17)), (start + end) // 2, *(end - n for n in (17, 16, 15, 1))}
    lengths = sorted(n for n in lengths if HEADER <= n < len(sealed))
    lengths = lengths if suite == 1 else lengths[::3]
    check(batch, key, plain, [(sealed[:n], (n - HEADER) // SEALED) for n in lengths], suite)


@pytest.mark.parametrize("suite, size", [(1, 0), (1, 5), (1, SEGMENT - 1), (1, SEGMENT), (1, 3 * SEGMENT + 1000),
                                         (2, 5), (2, 2 * SEGMENT)])
def test_trailing_bytes_damage_the_last_segment(batch, key, suite, size):
    plain, good = some_bytes(size), size // SEGMENT
    sealed = sf.seal(plain, [KEY], suite=suite)
    end, last = len(sealed), HEADER + good * SEALED
    extra = [os.urandom(n) for n in (1, 15, 16, 17, SEALED - 1, SEALED, 100000)]
    extra += [bytes(n) for n in (HEADER + end - last, SEALED - (end - last), 40000)]
    extra += [b"\n", sealed, sealed[last:], sealed[HEADER:]]
    for more in extra if suite == 1 else spread(extra, 4):
        expect_damage_independently(sealed + more, good, plain)
    for i, (run, lane, more) in enumerate(dealt_to_lanes(batch, extra)):
        options, via = ["-l", lane, *(["-b", "16K"], [])[i // 2 % 2]], ("pipe", "file")[i % 2]
        expect_damage(run, key, sealed + more, good, plain, *options, via=via)


@pytest.mark.parametrize("change", [lambda sealed: flipped(sealed, 60000), lambda sealed: sealed[: HEADER + 3 * SEALED],
                                    lambda sealed: sealed + sealed])
def test_no_output_file_is_created_or_changed(key, change):
    changed = change(sf.seal(some_bytes(100000), [KEY]))
    pathlib.Path("old").write_bytes(b"old")
    for out in "new", "old":
        stream("-q", "-k", key, "-d", "-o", out, status=4, input=changed)
        assert files_here() == ["old"] and pathlib.Path("old").read_bytes() == b"old"
