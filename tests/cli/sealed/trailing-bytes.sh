#!/usr/bin/env bash
# Bytes after a complete stream are told apart from damage: the message says where the stream ends. Decryption still
# fails with status 4, and does not release the last segment. Checked on every lane, from pipes and files.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from sealed_harness import *

for suite, sizes in ((1, (0, 5, SEGMENT - 1, SEGMENT, 3 * SEGMENT + 1000)), (2, (5, 2 * SEGMENT))):
    for size in sizes:
        plain = make_input(size)
        sealed = sf.seal(plain, [KEY], suite=suite)
        end, last = len(sealed), HEADER + size // SEGMENT * SEALED
        extra = [(f"{n} bytes", os.urandom(n)) for n in (1, 15, 16, 17, SEALED - 1, SEALED, 100000)]
        extra += [(f"{n} zero bytes", bytes(n)) for n in (HEADER + end - last, SEALED - (end - last), 40000)]
        extra += [("a newline", b"\n"), ("the same file", sealed), ("the last segment", sealed[last:]),
                  ("the same segments", sealed[HEADER:])]
        for what, more in extra:
            got = open_independently(sealed + more)
            expect_equal((4, plain[: size // SEGMENT * SEGMENT]), got, f"suite {suite}, {size} bytes, then {what}: independent reader")
        for k, lanes in enumerate(LANES):
            for i, (what, more) in enumerate(thinned(extra, 5, lanes, k)):
                what = f"suite {suite}, {size} bytes, then {what}"
                options = (["-b", "16K"], [])[i // 2 % 2]
                via = ("pipe", "file")[(i + k) % 2]
                expect_trailing(sealed + more, end, plain, "-l", lanes, *options, what=f"{what}, {via}", via=via)
                # Damage to the last segment is still damage.
                if end - last > 17:
                    damaged = flip(sealed + more, last + 1)
                    expect_damage(damaged, size // SEGMENT, plain, "-l", lanes, *options, what=f"{what}, damaged")

# The cobblestone format.
plain = make_input(40000)
sealed = sf.seal(plain, [KEY])
bare = sf.message(KEY, b"", plain)
expect_trailing(bare + b"\n", len(bare), plain, "-f", "cobblestone", "-k", key, what="cobblestone")

# Other modes. --range reads the end of the input first.
got = expect(4, b"", "--test", "-k", key, data=sealed + b"\n", what="--test")
expect_message(got, f"the stream ends at byte {len(sealed)}, but the input has trailing bytes.*\n.*head -c {len(sealed)}\n", "--test")
got = expect(4, b"", "--range", "0:10", "-k", key, data=sealed + b"\n", via="file", what="--range")
expect_message(got, f"the stream ends at byte {len(sealed)}, but the input has trailing bytes", "--range")
PYTHON
