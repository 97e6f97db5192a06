#!/usr/bin/env bash
# A flipped bit in a segment or its tag ends decryption there, with status 4 and exactly the segments before it as
# output, and the message gives the offset. Checked on every lane, from pipes and files, with various chunk sizes.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from sealed_harness import *

plain = make_input(4 * SEGMENT + 1000)
sealed = sf.seal(plain, [KEY])
places = []  # segment, byte
for i in range(5):
    first, end = HEADER + i * SEALED, min(HEADER + (i + 1) * SEALED, len(sealed))
    places += [(i, first), (i, (first + end) // 2), (i, end - 17), (i, end - 16), (i, end - 1)]
for lanes in LANES:
    for k, options in enumerate((["-b", "16K"], ["-b", "48K"], [])):
        for i, at in thinned(places, 3, lanes, k):
            changed = flip(sealed, at, at % 8)
            expect_equal((4, plain[: i * SEGMENT]), open_independently(changed), f"segment {i}, byte {at}: independent reader")
            via = ("pipe", "file")[(at + len(options)) % 2]
            expect_damage(changed, i, plain, "-l", lanes, *options, what=f"segment {i}, byte {at}, {via}", via=via)

# Many chunks in progress and several bad segments: the first one counts.
plain = make_input(100 * SEGMENT)
sealed = sf.seal(plain, [KEY])
for k, lanes in enumerate(LANES):
    for bad in thinned([[0], [37], [50, 51], [75, 99], [100]], 3, lanes, k):
        changed = sealed
        for i in bad:
            changed = flip(changed, HEADER + i * SEALED + 5)
        for chunk, via in (("16K", "pipe"), ("64K", "file"), ("64K", "pipe"), ("1M", "file")):
            what = f"segments {bad} of 101, {via}"
            expect_damage(changed, bad[0], plain, "-l", lanes, "-b", chunk, what=what, via=via)

# The offset of the segments depends on the slots.
sealed = sf.seal(make_input(40000), [OTHER_KEY, KEY])
expect_damage(flip(sealed, HEADER + 67 + SEALED), 1, make_input(40000), start=HEADER + 67, what="two slots")
PYTHON
