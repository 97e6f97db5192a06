#!/usr/bin/env bash
# What is sealed with Kuznyechik and then changed, rearranged or cut ends decryption there: exit 4 after exactly the
# segments before it. Its suite cannot be exchanged.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

plain = make_input(2 * SEGMENT + 1000)
whole = make_input(2 * SEGMENT)  # its last segment is empty
file_key = os.urandom(32)
sealed = sf.seal(plain, [KEY], file_key=file_key, suite=2)
sealed_whole = sf.seal(whole, [KEY], suite=2)
head, body = sealed[:HEADER], sealed[HEADER:]
s = [body[i : i + SEALED] for i in range(0, len(body), SEALED)]
empty = sealed_whole[-16:]


def join(*segments):
    return head + b"".join(segments)


cases = [
    ("0 and 1 exchanged", 0, join(s[1], s[0], s[2])),
    ("0 in place of 1", 1, join(s[0], s[0], s[2])),
    ("1 left out", 1, join(s[0], s[2])),
    ("the last twice", 2, join(*s, s[2])),
    ("the empty end of another file", 2, join(s[0], s[1], empty)),
    ("an empty end too early", 1, sealed_whole[: HEADER + SEALED] + empty),
    ("bytes appended", 2, sealed + bytes(100)),
    ("bytes appended to an empty end", 2, sealed_whole + bytes(17)),
]
for i in range(3):
    first, end = HEADER + i * SEALED, min(HEADER + (i + 1) * SEALED, len(sealed))
    for at in (first, (first + end) // 2, end - 17, end - 16, end - 1):
        cases.append((f"segment {i}, byte {at}", i, flip(sealed, at, at % 8)))
for k, lanes in enumerate(["cpu:1", "cpu:3", "reference"]):
    for what, good, changed in thinned(cases, 3, lanes, k):
        expect_equal((4, plain[: good * SEGMENT]), opinion(changed), f"{what}: what the other implementation makes of it")
        for options in (["-b", "16K"], []):
            expect_damage(changed, good, plain, "-l", lanes, *options, what=what, via=("pipe", "file")[len(options) // 2])
    for length in thinned([HEADER, HEADER + 15, HEADER + 16, HEADER + SEALED, HEADER + SEALED + 17, len(sealed) - 1], 3, lanes, k):
        expect_damage(sealed[:length], (length - HEADER) // SEALED, plain, "-l", lanes, what=f"cut to {length}", cut=True)

for suite, other in ((1, 2), (2, 1)):
    data = sf.seal(plain, [KEY], suite=suite)
    changed = data[:16] + bytes([other]) + data[17:]
    expect_equal((4, b""), opinion(changed), "what the other implementation makes of another suite")
    expect_refused(4, changed, *QUICK, what=f"suite {other} in place of {suite}")
PYTHON
