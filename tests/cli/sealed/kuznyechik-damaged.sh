#!/usr/bin/env bash
# A change to a segment sealed with Kuznyechik ends decryption there, with status 4 and exactly the segments before it
# as output. The suite in the header cannot be changed.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from sealed_harness import *

plain = make_input(2 * SEGMENT + 1000)
whole = make_input(2 * SEGMENT)  # its last segment is empty
file_key = os.urandom(32)
sealed = sf.seal(plain, [KEY], file_key=file_key, suite=2)
sealed_whole = sf.seal(whole, [KEY], suite=2)
head, body = sealed[:HEADER], sealed[HEADER:]
s = [body[i : i + SEALED] for i in range(0, len(body), SEALED)]
empty = sealed_whole[-16:]


# The same file key, slots and plaintext, but another salt.
again = sf.seal(plain, slots=[sf.key_slot(file_key, KEY)], file_key=file_key, suite=2)[HEADER:]


def with_tag(segment, other):
    return segment[:-16] + other[-16:]


def join(*segments):
    return head + b"".join(segments)


cases = [
    ("0 and 1 exchanged", 0, join(s[1], s[0], s[2])),
    ("0 instead of 1", 1, join(s[0], s[0], s[2])),
    ("1 removed", 1, join(s[0], s[2])),
    ("tags of 0 and 1 exchanged", 0, join(with_tag(s[0], s[1]), with_tag(s[1], s[0]), s[2])),
    ("tags of 1 and 2 exchanged", 1, join(s[0], with_tag(s[1], s[2]), with_tag(s[2], s[1]))),
    ("a tag of zeros", 1, join(s[0], with_tag(s[1], bytes(16)), s[2])),
    ("1 of another message", 1, join(s[0], again[SEALED : 2 * SEALED], s[2])),
    ("the tag of another message", 1, join(s[0], with_tag(s[1], again[SEALED : 2 * SEALED]), s[2])),
    ("the empty end of another file", 2, join(s[0], s[1], empty)),
    ("an empty end after segment 0", 1, sealed_whole[: HEADER + SEALED] + empty),
]
for i in range(3):
    first, end = HEADER + i * SEALED, min(HEADER + (i + 1) * SEALED, len(sealed))
    for at in (first, (first + end) // 2, end - 17, end - 16, end - 1):
        cases.append((f"segment {i}, byte {at}", i, flip(sealed, at, at % 8)))
for k, lanes in enumerate(LANES):
    for what, good, changed in thinned(cases, 3, lanes, k):
        expect_equal((4, plain[: good * SEGMENT]), open_independently(changed), f"{what}: independent reader")
        for options in (["-b", "16K"], []):
            expect_damage(changed, good, plain, "-l", lanes, *options, what=what, via=("pipe", "file")[len(options) // 2])
    for length in thinned([HEADER, HEADER + 15, HEADER + 16, HEADER + SEALED, HEADER + SEALED + 17, len(sealed) - 1], 3, lanes, k):
        expect_damage(sealed[:length], (length - HEADER) // SEALED, plain, "-l", lanes, what=f"truncated to {length}", cut=True)

# The -o file appears complete or not at all.
changed = flip(sealed, HEADER + SEALED + 5)
expect(4, b"", "-d", "-k", key, "-o", "opened", data=changed, what="a bad segment, to a file")
if os.path.exists("opened"):
    fail("a bad segment, to a file: expected no file")
expect_refused(3, sealed, "-k", secret_file("other", OTHER_KEY), what="another key")

for suite, other in ((1, 2), (2, 1)):
    data = sf.seal(plain, [KEY], suite=suite)
    changed = data[:16] + bytes([other]) + data[17:]
    expect_equal((4, b""), open_independently(changed), f"suite {other} instead of {suite}: independent reader")
    for options in ([], ["-c", "aes-256" if other == 1 else "kuznyechik"]):
        got = expect_refused(4, changed, *options, *QUICK, what=f"suite {other} instead of {suite}")
        expect_message(got, "header", f"suite {other} instead of {suite}")
PYTHON
