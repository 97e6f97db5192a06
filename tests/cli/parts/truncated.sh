#!/usr/bin/env bash
# A file made of parts that is truncated at any byte never looks complete, and neither does one with bytes appended:
# decryption fails with status 4.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from parts_harness import *


def cut_at(data, sizes, plain, begins):
    """The data, cut to each of these sizes."""
    for size in sizes:
        i = max(k for k, begin in enumerate(begins) if begin <= size)
        body = size - begins[i]
        where = f"part {i}" if i < len(begins) - 1 and body >= 73 else "a part or the index"
        says = {"pipe": f"the input is truncated after byte {size}, in {where}"}
        if size < begins[0] + 73:  # before part 0 is known
            says = f"the input is truncated after byte {size}, in its header"
        elif where.startswith("part"):
            says = None
        yield Changed(f"the first {size} of {len(data)} bytes", data[:size], plain, says)


def sealed_parts(suite, lengths):
    plain, job = make_input(sum(lengths)), pf.new_job(suite, keys=[KEY])
    parts = pf.seal_parts(job, [plain[sum(lengths[:i]) : sum(lengths[: i + 1])] for i in range(len(lengths))])
    return pf.join(job, parts), plain, [HEAD + len(b"".join(parts[:i])) for i in range(len(lengths) + 1)]


for suite, step in ((pf.AES, 1), (pf.KUZNYECHIK, 7)):
    data, plain, begins = sealed_parts(suite, [5, 0])
    expect_all(cut_at(data, range(HEAD, len(data), step), plain, begins))

# Around the boundaries of segments and frames, on each lane.
data, plain, begins = sealed_parts(pf.AES, [16384, 20000, 0, 32768])
ends = [*begins, len(data) - 8, *(begin + 73 + i * SEALED for begin in begins[:2] for i in (0, 1))]
sizes = {end + n for end in ends for n in (-17, -16, -1, 0, 1, 15, 16, 17)}
expect_all(cut_at(data, sorted(s for s in sizes if HEAD + 73 <= s < len(data)), plain, begins))

# The end of a truncated file is that of another file, or of another part.
other = sealed_parts(pf.AES, [16384, 20000, 0, 32768])[0]
cases = [Changed("the end of another file", data[: begins[i]] + other[begins[i] :], plain) for i in range(1, 5)]
cases += [Changed("a number of parts, appended to a cut", data[: begins[i]] + data[-8:], plain) for i in range(5)]
cases += [Changed("index and number, appended to a cut", data[: begins[i] + 100] + data[begins[4] :], plain) for i in range(4)]

# Appended bytes.
trailing = {"pipe": f"the input has trailing bytes after byte {len(data)}"}
for end in (b"\0", b"\n", bytes(8), data[-8:], (3).to_bytes(8, "big"), data[begins[4] :], data[begins[2] :], data, bytes(100000)):
    cases.append(Changed(f"{len(end)} bytes appended", data + end, plain, trailing))
expect_all(cases, everywhere=True)
PYTHON
