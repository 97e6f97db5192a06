#!/usr/bin/env bash
# Segments exchanged, repeated, removed or taken from another file: decryption fails with status 4 after exactly the
# segments that are in the right place.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from sealed_harness import *

plain = make_input(4 * SEGMENT + 1000)
whole = make_input(4 * SEGMENT)  # its last segment is empty
file_key = os.urandom(32)
sealed = sf.seal(plain, [KEY], file_key=file_key)
sealed_whole = sf.seal(whole, [KEY])
head, body = sealed[:HEADER], sealed[HEADER:]
s = [body[i : i + SEALED] for i in range(0, len(body), SEALED)]
# The same file key, slots and plaintext, but another salt.
again = sf.seal(plain, slots=[sf.key_slot(file_key, KEY)], file_key=file_key)[HEADER:]


def join(*segments):
    return head + b"".join(segments)


cases = [
    ("0 and 1 exchanged", 0, join(s[1], s[0], *s[2:])),
    ("1 and 3 exchanged", 1, join(s[0], s[3], s[2], s[1], s[4])),
    ("the last and the first exchanged", 0, join(s[4], *s[1:4], s[0])),
    ("0 instead of 1", 1, join(s[0], s[0], *s[2:])),
    ("0 twice", 1, join(s[0], *s)),
    ("3 twice", 4, join(*s[:4], s[3], s[4])),
    ("0 removed", 0, join(*s[1:])),
    ("2 removed", 2, join(*s[:2], *s[3:])),
    ("3 removed", 3, join(*s[:3], s[4])),
    ("all removed except the last", 0, join(s[4])),
    ("2 of another message", 2, join(*s[:2], again[2 * SEALED : 3 * SEALED], *s[3:])),
    ("the last of another message", 4, join(*s[:4], again[4 * SEALED :])),
    ("another file's end", 4, sealed_whole[:-16] + s[4]),
]
for k, lanes in enumerate(LANES):
    for what, good, changed in thinned(cases, 3, lanes, k):
        expect_equal((4, plain[: good * SEGMENT]), open_independently(changed), f"{what}: independent reader")
        for options in (["-b", "16K"], []):
            via = ("pipe", "file")[(k + len(options)) % 2]
            expect_damage(changed, good, plain, "-l", lanes, *options, what=f"{what}, {via}", via=via)
PYTHON
