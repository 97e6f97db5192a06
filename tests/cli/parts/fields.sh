#!/usr/bin/env bash
# Changed kinds, numbers and lengths of parts and index, and a changed number of parts at the end, also with values whose
# multiples and sums overflow: decryption fails with status 4, even if someone with the file key wrote these fields.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from parts_harness import *

LENGTHS = [100, 2 * SEGMENT + 5, 0, 16384, 7]
PARTS = len(LENGTHS)
plain = make_input(sum(LENGTHS))
pieces = [plain[sum(LENGTHS[:i]) : sum(LENGTHS[: i + 1])] for i in range(PARTS)]
cases = []


def number(value):
    return (value % 2**64).to_bytes(8, "big")


def wrapping(length, factor=1):
    """Lengths near which the size of a frame is that of the length, plus a multiple of 2^64."""
    return [(i * 2**64 + factor * length) * 1024 // 1025 + j for i in (1, 2) for j in (-1, 0, 1)]


# Lengths that break a limit or overflow somewhere.
HUGE = [2**50 - 1, 2**50, 2**52 - 1, 2**52, 2**52 + 100, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 16384, 2**64 - 89,
        2**64 - 73, 2**64 - 16, 2**64 - 1]

# --- Changed by anyone -------------------------------------------------------------------------------------------

job = pf.new_job(keys=[KEY])
p = pf.seal_parts(job, pieces)
index, n = pf.make_index(job, p), number(PARTS)
whole = pf.join(job, p)
begins = [HEAD + len(b"".join(p[:i])) for i in range(PARTS + 1)]


def change(what, at, *values, says=None):
    cases.append(Changed(what, whole[:at] + b"".join(values) + whole[at + len(b"".join(values)) :], plain, says))


for i in range(PARTS + 1):
    of_part = f"part {i}" if i < PARTS else "the index"
    size = LENGTHS[i] if i < PARTS else 40 * PARTS
    for kind in {0, 1, 2, 3, 255} - {whole[begins[i]]}:
        change(f"kind {kind} of {of_part}", begins[i], bytes([kind]))
    for value in {0, 1, 2, 4, 5, 6, 2**20, 2**31, 2**32 - 1}:
        for at, field in ((1, "number"), (5, "of")):
            if value != int.from_bytes(whole[begins[i] + at :][:4], "big"):
                change(f"{field} {value} of {of_part}", begins[i] + at, value.to_bytes(4, "big"))
    near = {0, 1, size - 40, size - 16, size - 1, size + 1, size + 16, size + 40, size + 89, 16384, 32768, 2 * size}
    for value in {*near, *HUGE, *[v % 2**64 for v in wrapping(size)]} - {size}:
        if value >= 0:
            change(f"length {value} of {of_part}", begins[i] + 9, number(value))

missing = f"the input is corrupt or truncated at byte {len(whole) - 8}: its index is missing or damaged"
in_pipe = f"the input is corrupt at byte {len(whole) - 8}, in the number of parts"
for value in (0, 2**20 + 1, 2**24, 2**32 - 1, 2**32, 2**32 + 5, 2**60, 2**63, 2**63 + 5, 2**64 - 5, 2**64 - 1,
              2**64 // 40 - 1, 2**64 // 40, 2**64 // 40 + 1, 2**64 // 41 + 1, 2**64 // 89 + 1, 2**61 + 5, 2**62 + 5,
              3 * 2**61 + 5, 7 * 2**61 + 5):
    change(f"n is {value}", len(whole) - 8, number(value), says={"pipe": in_pipe, "file": missing})
for value in (1, 2, 3, 4, 6, 10, 255, 2**16, 2**20 - 1, 2**20):
    change(f"n is {value}", len(whole) - 8, number(value), says={"pipe": in_pipe})
change("n in little-endian", len(whole) - 8, n[::-1])

# --- Written with the file key -----------------------------------------------------------------------------------


def write(what, parts, count=PARTS, index=None, **more):
    """A file with valid commitments and tags. Its index can list other things than its parts."""
    index = pf.make_index(job, parts) if index is None else index
    cases.append(Changed(f"{what}, with the file key", job.head + b"".join(parts) + index + number(count), plain,
                         exact=False, **more))


def index_of(entries, count=PARTS, **fields):
    fields = {"number": count, "of": count, **fields}
    return pf.frame(job, pf.INDEX, plaintext=b"".join(number(length) + commitment for length, commitment in entries), **fields)


entries = [(pf.read_header(part, 0).length, pf.read_header(part, 0).commitment) for part in p]
header_0 = f"the input is corrupt at byte {HEAD}, in the header of part 0"
wrong_index = f"the input is corrupt or truncated at byte {begins[PARTS]}: its index is missing or damaged"
write("entries 0 and 1 exchanged", p, index=index_of([entries[1], entries[0], *entries[2:]]), says={"file": header_0})
write("commitments 3 and 4 exchanged", p,
      index=index_of([*entries[:3], (LENGTHS[3], entries[4][1]), (LENGTHS[4], entries[3][1])]))
write("an entry less", p, index=index_of(entries[:4]))
write("an entry less, of 4", p, index=index_of(entries[:4], 4))
write("an entry less, of 4, n is 4", p, 4, index=index_of(entries[:4], 4), says={"file": wrong_index})
write("an entry more", p, index=index_of([*entries, (0, bytes(32))]))
write("an entry more, of 6", p, 6, index=index_of([*entries, (0, bytes(32))], 6))
write("no entries", p, 0, index=index_of([], 0))
write("no parts", [], 0, index=index_of([], 0))
write("no parts, n is 5", [], index=index_of(entries))
for length in (*HUGE, 0, 1, 99, 101):
    write(f"length {length} in the index", p, index=index_of([(length, entries[0][1]), *entries[1:]]))
    if length > 2 * SEGMENT:
        rest = (-length % 2**64, entries[1][1])
        write(f"length {length} and its negation in the index", p, index=index_of([(length, entries[0][1]), rest, *entries[2:]]))
        write(f"length {length} in part 1", [p[0], pf.frame(job, pf.PART, 1, 0, pieces[1], length), *p[2:]])
        write(f"length {length} in part 0", [pf.frame(job, pf.PART, 0, 0, pieces[0], length), *p[1:]])
for length in wrapping(sum(map(pf.frame_size, LENGTHS))):
    write(f"length {length % 2**64} in the index", p, index=index_of([(length, entries[0][1]), *[(0, bytes(32))] * 4]))
for field in ("number", "of"):
    for value in (0, 4, 6, 2**20, 2**32 - 1):
        write(f"{field} {value} of the index", p, index=index_of(entries, **{field: value}))
        write(f"{field} {value} of the index, which is n", p, value, index=index_of(entries, **{field: value}))
for length in (0, 40, 160, 199, 201, 240, 2**64 - 1):
    write(f"length {length} of the index", p, index=index_of(entries, length=length))
write("part 3 as an index", [*p[:3], pf.frame(job, pf.INDEX, 3, 0, pieces[3]), p[4]])

for of in (1, 4, 6, 2**20, 2**20 + 1, 2**32 - 1):
    write(f"all parts of {of}", pf.seal_parts(job, pieces, of))
    write(f"part 0 of {of}", [*pf.seal_parts(job, pieces[:1], of), *p[1:]])
    write(f"part 4 of {of}", [*p[:4], pf.frame(job, pf.PART, 4, of, pieces[4])])
for value in (0, 3, 5, 2**20, 2**32 - 1):
    write(f"number {value} of part 4", [*p[:4], pf.frame(job, pf.PART, value, 0, pieces[4])])
write("numbers from 1", [pf.frame(job, pf.PART, i + 1, 0, piece) for i, piece in enumerate(pieces)])

expect_all(cases)
PYTHON
