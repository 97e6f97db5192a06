#!/usr/bin/env bash
# An independent implementation of the sealed format opens the output of each lane, and vice versa.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from sealed_harness import *

SIZES = [0, 1, 15, 16, 17, 4099, 16383, 16384, 16385, 32768, 300001]
salts = []
for k, lanes in enumerate(LANES):
    for size in thinned(SIZES, 3, lanes, k):
        for chunk in ("16K", "64K"):
            options = ["-l", lanes, "-b", chunk]
            plain, what = make_input(size), f"{size} bytes, {options}"
            sealed = run("-k", key, *options, data=plain, via="file")
            expect_equal(0, sealed.code, f"{what}: exit status to seal")
            expect_equal(b"gpuaes-stream/1\n\x01\x01\x00\x43\x01\x00\x40", sealed.out[:23], f"{what}: first bytes")
            code, opened = open_independently(sealed.out)
            expect_equal(0, code, f"{what}, sealed by the program: status of the independent implementation")
            expect_same(plain, opened, f"{what}, sealed by the program")
            salts += [sealed.out[23:39], sealed.out[119:143]]
            expect_open(sf.seal(plain, [KEY]), plain, *options, what=f"{what}, sealed independently")
expect_equal(len(salts), len(set(salts)), "number of different salts")
PYTHON
