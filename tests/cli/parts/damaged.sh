#!/usr/bin/env bash
# A flipped bit in any byte of a part, of the index or of the number of parts ends decryption with status 4. The message
# says where it is, and how much plaintext was verified before.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from parts_harness import *

# Every byte after the header of a small file. The tests of other suites change the header.
plain = make_input(5)
for suite, step in ((pf.AES, 1), (pf.KUZNYECHIK, 5)):
    job = pf.new_job(suite, keys=[KEY])
    sealed = pf.join(job, pf.seal_parts(job, [plain, b""]))
    expect_all(Changed(f"suite {suite}, byte {at}", flip(sealed, at, at % 8), plain) for at in range(HEAD, len(sealed), step))

# Places in a larger file, for each lane.
lengths = [20000, 0, 16384, 5, 40000]
plain = make_input(sum(lengths))
job = pf.new_job(keys=[KEY])
parts = pf.seal_parts(job, [plain[sum(lengths[:i]) : sum(lengths[: i + 1])] for i in range(5)])
sealed = pf.join(job, parts)
begins = [HEAD + len(b"".join(parts[:i])) for i in range(6)]


def corrupt(at, where="", truncated=False):
    return f"the input is corrupt{' or truncated' * truncated} at byte {at}{where}"


def flipped(at, says, *others):
    changed = flip(sealed, at, at % 8)
    for other in others:
        changed = flip(changed, other, other % 8)
    cases.append(Changed(f"byte {at}", changed, plain, says))


cases = []
flipped(HEAD, corrupt(HEAD, ", in its header: it is not followed by part 0"))
for i, length in enumerate(lengths):
    header, where = corrupt(begins[i], f", in the header of part {i}"), f", in part {i}"
    if i > 0:
        for at in (0, 3, 7, 17, 41, 72):  # kind, number, of, salt and commitment
            flipped(begins[i] + at, header)
    for segment in range(length // SEGMENT + 1):
        at = begins[i] + 73 + segment * SEALED
        is_last = segment == length // SEGMENT
        for byte in (at, min(at + SEALED, begins[i + 1]) - 1):
            flipped(byte, corrupt(at, where, truncated=is_last))
missing = corrupt(begins[5], ": its index is missing or damaged", truncated=True)
flipped(begins[5], {"pipe": corrupt(begins[5], ", in the header of part 5"), "file": missing})
for at in (4, 8, 16):  # number, of and length
    flipped(begins[5] + at, {"pipe": corrupt(begins[5], ", in the header of the index"), "file": missing})
flipped(begins[5] + 17, corrupt(begins[5], ", in the header of the index"))
flipped(begins[5] + 73, corrupt(begins[5] + 73, ", in the index"))
flipped(len(sealed) - 9, corrupt(begins[5] + 73, ", in the index"))
flipped(len(sealed) - 1, {"pipe": corrupt(len(sealed) - 8, ", in the number of parts")})
flipped(begins[2] + 80, corrupt(begins[2] + 73, ", in part 2"), begins[3] + 80, begins[4] + 20000)  # the first one counts
expect_all(cases, everywhere=True)

# Many parts in progress, and several of them damaged: the first one counts.
pieces = [make_input(5000 + i) for i in range(200)]
plain = b"".join(pieces)
parts = pf.seal_parts(job, pieces)
at = [HEAD + len(b"".join(parts[:i])) for i in range(201)]
cases = []
for bad in ([0], [1, 2], [150, 199], [60, 61, 62]):
    for what, byte in (("header", 50), ("first segment", 100), ("tag", -1)):
        changed = pf.join(job, parts)
        for i in bad:
            changed = flip(changed, (at[i] if byte > 0 else at[i + 1]) + byte)
        cases.append(Changed(f"{what} of parts {bad}", changed, plain))
expect_all(cases, everywhere=True)

# A range needs only the index and the parts that it is in.
changed = flip(pf.join(job, parts), at[100] + 100)
begin = len(b"".join(pieces[:100]))
for offset, length in ((0, begin), (begin + len(pieces[100]), 10000), (begin - 1, 1)):
    expect(0, plain[offset : offset + length], "--range", f"{offset}:{length}", "-k", key, data=changed, via="file", what="a range")
for offset, length in ((begin, 1), (0, begin + 1)):
    expect(4, plain[offset : begin], "--range", f"{offset}:{length}", "-k", key, data=changed, via="file", what="a range with damage")
without_index = flip(pf.join(job, parts), at[200] + 100)
expect(4, b"", "--range", "0:1", "-k", key, data=without_index, via="file", what="a range without an index")
PYTHON
