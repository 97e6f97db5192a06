#!/usr/bin/env bash
# --range works beyond 2^32 segments, in a sparse file.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

first=$(((1 << 32) + 5))
large=$work/large
truncate -s $((175 + (first + 3) * 16400)) "$large" 2>/dev/null || {
  large=$(mktemp /dev/shm/gpuaes-XXXXXX) || skip "cannot create a file of 64 TiB"
  at_exit "rm -f $large"
  truncate -s $((175 + (first + 3) * 16400)) "$large" 2>/dev/null || skip "cannot create a file of 64 TiB"
}
LARGE=$large FIRST=$first python <<'PYTHON'
from sealed_harness import *

name, first = os.environ["LARGE"], int(os.environ["FIRST"])
plain = make_input(2 * SEGMENT + 100)
file_key = bytes(range(32))
for suite in (1, 2):
    header = sf.header(file_key, [sf.key_slot(file_key, KEY)], suite=suite)
    aead, nonce_of, aad, commitment = sf.suite_of(suite, file_key, header[:17], bytes(24))
    end = HEADER + first * SEALED + 2 * SEALED + 100 + 16
    with open(name, "r+b") as f:
        f.write(header + bytes(24) + commitment)
        for i in range(3):
            f.seek(HEADER + (first + i) * SEALED)
            f.write(aead.encrypt(nonce_of(first + i), plain[i * SEGMENT : (i + 1) * SEGMENT], aad))
        f.truncate(end)
    begin = first * SEGMENT
    for offset, length in ((0, 100), (10, 2 * SEGMENT), (SEGMENT, SEGMENT), (2 * SEGMENT + 50, 50)):
        expect(0, plain[offset : offset + length], "--range", f"{begin + offset}:{length}", "-k", key, "-i", name, what="far")
    expect(0, plain, "--range", f"{begin}:", "-k", key, "-i", name, what="far")
    got = expect(4, b"", "--range", f"{begin - 5}:10", "-k", key, "-i", name, what="a hole")
    expect_message(got, rf"corrupt at byte {HEADER + (first - 1) * SEALED}; 0 bytes", "a hole")
    got = expect(2, b"", "--range", f"{begin}:1M", "-k", key, "-i", name, what="beyond the end")
    expect_message(got, rf"\b{begin + len(plain)}\b", "beyond the end")
PYTHON
