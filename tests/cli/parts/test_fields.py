"""Changed kinds, numbers and lengths of frames, and a changed number of parts, also with values that overflow if
multiplied or added: decryption fails with status 4, even if someone with the file key wrote these fields."""

import pytest

from programs import KEY

pytest.importorskip("cryptography")
import parts_format as pf  # noqa: E402
from damage import SEGMENT  # noqa: E402
from parts_damage import HEAD, Changed, begins_of, expect_damage, pieces_of  # noqa: E402

LENGTHS = [100, 2 * SEGMENT + 5, 0, 16384, 7]
COUNT = len(LENGTHS)
PIECES, PLAIN = pieces_of(LENGTHS)
JOB = pf.new_job(keys=[KEY])
PARTS = pf.seal_parts(JOB, PIECES)
WHOLE = pf.join(JOB, PARTS)
BEGINS = begins_of(PARTS)

# Lengths that break a limit or overflow somewhere.
HUGE = [2**50 - 1, 2**50, 2**52 - 1, 2**52, 2**52 + 100, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 16384, 2**64 - 89,
        2**64 - 73, 2**64 - 16, 2**64 - 1]
# Numbers of parts for which the size of the index is too large, or overflows.
TOO_MANY = [0, 2**20 + 1, 2**24, 2**32 - 1, 2**32, 2**32 + 5, 2**60, 2**63, 2**63 + 5, 2**64 - 5, 2**64 - 1,
            2**64 // 40 - 1, 2**64 // 40, 2**64 // 40 + 1, 2**64 // 41 + 1, 2**64 // 89 + 1, 2**61 + 5, 2**62 + 5,
            3 * 2**61 + 5, 7 * 2**61 + 5]


def number(value):
    return (value % 2**64).to_bytes(8, "big")


def wrapping(length):
    """Lengths near which the size of a frame is that of the length, plus a multiple of 2^64."""
    return [((i * 2**64 + length) * 1024 // 1025 + j) % 2**64 for i in (1, 2) for j in (-1, 0, 1)]


# --- Changed by anyone ---------------------------------------------------------------------------------------------


def change(what, at, value, says=None):
    return Changed(what, WHOLE[:at] + value + WHOLE[at + len(value) :], PLAIN, says)


def changed_frames():
    for i, begin in enumerate(BEGINS):
        size = LENGTHS[i] if i < COUNT else 40 * COUNT
        for kind in {0, 1, 2, 3, 255} - {WHOLE[begin]}:
            yield change(f"kind {kind} of frame {i}", begin, bytes([kind]))
        for value in (0, 1, 2, 4, 5, 6, 2**20, 2**31, 2**32 - 1):
            for at, field in ((1, "number"), (5, "of")):
                if value != int.from_bytes(WHOLE[begin + at :][:4], "big"):
                    yield change(f"{field} {value} of frame {i}", begin + at, value.to_bytes(4, "big"))
        near = {0, 1, size - 40, size - 16, size - 1, size + 1, size + 16, size + 40, size + 89, 16384, 32768, 2 * size}
        for value in {*near, *HUGE, *wrapping(size)} - {size}:
            if value >= 0:
                yield change(f"length {value} of frame {i}", begin + 9, number(value))


def changed_ends():
    at = len(WHOLE) - 8
    in_pipe = f"the input is corrupt at byte {at}, in the number of parts"
    missing = f"the input is corrupt or truncated at byte {at}: its index is missing or damaged"
    for value in TOO_MANY:
        yield change(f"{value} parts", at, number(value), {"pipe": in_pipe, "file": missing})
    for value in (1, 2, 3, 4, 6, 10, 255, 2**16, 2**20 - 1, 2**20):
        yield change(f"{value} parts", at, number(value), {"pipe": in_pipe})
    yield change("little-endian", at, number(COUNT)[::-1])


def test_changed_fields_are_detected(batch, key):
    expect_damage(batch, key, [*changed_frames(), *changed_ends()])


# --- Written with the file key -------------------------------------------------------------------------------------


def write(what, parts=PARTS, count=COUNT, index=None, says=None):
    """A file with valid commitments and tags. Its index can list other things than its parts."""
    index = pf.make_index(JOB, parts) if index is None else index
    return Changed(what, JOB.head + b"".join(parts) + index + number(count), PLAIN, says, exact=False)


def index_of(*entries, count=COUNT, **fields):
    plaintext = b"".join(number(length) + commitment for length, commitment in entries)
    return pf.frame(JOB, pf.INDEX, plaintext=plaintext, **{"number": count, "of": count, **fields})


def wrong_indexes():
    """Files with an index that differs from their parts."""
    headers = [pf.read_header(part, 0) for part in PARTS]
    e = [(header.length, header.commitment) for header in headers]
    swapped = index_of(*e[:3], (LENGTHS[3], e[4][1]), (LENGTHS[4], e[3][1]))
    none, more = (0, bytes(32)), [*e, (0, bytes(32))]
    header_0 = f"the input is corrupt at byte {HEAD}, in the header of part 0"
    missing = f"the input is corrupt or truncated at byte {BEGINS[COUNT]}: its index is missing or damaged"
    yield write("entries 0 and 1 exchanged", index=index_of(e[1], e[0], *e[2:]), says={"file": header_0})
    yield write("commitments 3 and 4 exchanged", index=swapped)
    yield write("an entry less", index=index_of(*e[:4]))
    yield write("an entry less, of 4", index=index_of(*e[:4], count=4))
    yield write("an entry less, of 4, 4 parts", count=4, index=index_of(*e[:4], count=4), says={"file": missing})
    yield write("an entry more", index=index_of(*more))
    yield write("an entry more, of 6", count=6, index=index_of(*more, count=6))
    yield write("no entries", count=0, index=index_of(count=0))
    yield write("no parts", [], 0, index_of(count=0))
    yield write("no parts, but entries", [], index=index_of(*e))
    for length in (*HUGE, 0, 1, 99, 101):
        yield write(f"length {length} in the index", index=index_of((length, e[0][1]), *e[1:]))
    for length in HUGE:
        both = (length, e[0][1]), (-length % 2**64, e[1][1])
        yield write(f"length {length} and its negation", index=index_of(*both, *e[2:]))
    for length in wrapping(sum(map(pf.frame_size, LENGTHS))):
        yield write(f"length {length} in the index", index=index_of((length, e[0][1]), *[none] * 4))
    for field in ("number", "of"):
        for value in (0, 4, 6, 2**20, 2**32 - 1):
            index = index_of(*e, **{field: value})
            yield write(f"{field} {value} of the index", index=index)
            yield write(f"{field} {value} of the index, and as many parts", count=value, index=index)
    for length in (0, 40, 160, 199, 201, 240, 2**64 - 1):
        yield write(f"length {length} of the index", index=index_of(*e, length=length))


def wrong_parts():
    def frame(i, number, of=0, kind=pf.PART, length=None):
        return pf.frame(JOB, kind, number, of, PIECES[i], length)

    for length in HUGE:
        yield write(f"length {length} in part 1", [PARTS[0], frame(1, 1, length=length), *PARTS[2:]])
        yield write(f"length {length} in part 0", [frame(0, 0, length=length), *PARTS[1:]])
    yield write("part 3 as an index", [*PARTS[:3], frame(3, 3, kind=pf.INDEX), PARTS[4]])
    for of in (1, 4, 6, 2**20, 2**20 + 1, 2**32 - 1):
        yield write(f"all parts of {of}", pf.seal_parts(JOB, PIECES, of))
        yield write(f"part 0 of {of}", [frame(0, 0, of), *PARTS[1:]])
        yield write(f"part 4 of {of}", [*PARTS[:4], frame(4, 4, of)])
    for value in (0, 3, 5, 2**20, 2**32 - 1):
        yield write(f"number {value} of part 4", [*PARTS[:4], frame(4, value)])
    yield write("numbers from 1", [frame(i, i + 1) for i in range(COUNT)])


def test_wrong_fields_are_detected_even_with_the_file_key(batch, key):
    expect_damage(batch, key, [*wrong_indexes(), *wrong_parts()])
