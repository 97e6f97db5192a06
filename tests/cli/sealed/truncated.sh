#!/usr/bin/env bash
# A sealed stream truncated at any byte never looks complete: decryption fails with status 4 after exactly the whole
# segments that remain.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from sealed_harness import *

for size in (3 * SEGMENT + 1000, 3 * SEGMENT, 5):
    plain = make_input(size)
    sealed = sf.seal(plain, [KEY])
    lengths = set()
    for i in range(size // SEGMENT + 1):
        start, end = HEADER + i * SEALED, min(HEADER + (i + 1) * SEALED, len(sealed))
        lengths |= {start + n for n in (0, 1, 15, 16, 17)} | {(start + end) // 2} | {end - n for n in (17, 16, 15, 1)}
    lengths = sorted(n for n in lengths if HEADER <= n < len(sealed))
    for k, lanes in enumerate(LANES):
        for length in thinned(lengths, 4, lanes, k):
            cut, good = sealed[:length], (length - HEADER) // SEALED
            expect_equal((4, plain[: good * SEGMENT]), open_independently(cut), f"{length} of {len(sealed)} bytes: independent reader")
            for options in (["-b", "16K"], []):
                via = ("pipe", "file")[(length + len(options)) % 2]
                what = f"{length} of {len(sealed)} bytes, {via}"
                expect_damage(cut, good, plain, "-l", lanes, *options, what=what, cut=True, via=via)
PYTHON
