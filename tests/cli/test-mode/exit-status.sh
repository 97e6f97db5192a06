#!/usr/bin/env bash
# --test exits with the status that decryption would, and writes nothing, for complete, damaged, truncated and extended
# inputs, and wrong keys.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from sealed_harness import *

def try_all(whole, header, *options, wrong):
    last = len(whole) - 5
    cases = {"whole": (0, whole), "a byte appended": (4, whole + b"x"), "truncated": (4, whole[:-1]),
             "truncated between segments": (4, whole[: header + SEALED]), "no segment": (4, whole[:header]),
             "truncated header": (4, whole[: header - 1]), "empty": (4, b"")}
    for at in (header, header + SEALED, last):
        cases[f"damage at {at}"] = (4, flip(whole, at))
    for lanes in LANES:
        for what, (want, data) in cases.items():
            for via in ("pipe", "file"):
                for d in ([], ["-d"]):
                    result = expect(want, b"", "--test", *d, "-l", lanes, "-b", "16K", "-k", key, *options,
                                    data=data, via=via, what=what)
        expect_message(expect(4, b"", "--test", "-l", lanes, "-k", key, *options, data=flip(whole, header + SEALED),
                              what="message"), rf"corrupt.*\b{header + SEALED}\b.*\b{SEGMENT}\b", "the usual message")
        expect(3, b"", "--test", "-l", lanes, "-k", wrong, *options, data=whole, what="wrong key")

wrong = secret_file("wrong", OTHER_KEY)
for size in (0, 2 * SEGMENT, 2 * SEGMENT + 100):
    plain = make_input(size)
    if size < SEGMENT + 1:
        expect(0, b"", "--test", "-k", key, data=sf.seal(plain, [KEY]), what="empty")
        continue
    try_all(sf.seal(plain, [KEY]), HEADER, wrong=wrong)
    try_all(sf.message(KEY, b"", plain), 56, "-f", "cobblestone", wrong=wrong)
expect(0, b"", "--test", "-k", key, data=sf.seal(make_input(100000), [KEY], suite=2), what="kuznyechik")
expect(4, b"", "--test", "-k", key, data=flip(sf.seal(make_input(100000), [KEY], suite=2), 50000), what="kuznyechik")
PYTHON

# --stats reports the verified bytes.
make_input 100000 plain
gsealed -e <plain >sealed
expect_exit 0 gsealed --test --stats figures <sealed
grep -q '"bytes_out": 100000,' figures || fail "expected the bytes that were verified, got: $(<figures)"
expect_files plain sealed figures stdin wrong
