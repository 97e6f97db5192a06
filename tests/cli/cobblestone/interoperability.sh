#!/usr/bin/env bash
# Each lane opens bare messages of an independent implementation and vice versa, with keys for Cobblestone-256 and
# -128, with and without a context. A message is 56 bytes longer than its plaintext, plus 16 bytes for each segment.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

for bits in 128 256; do
  use_key "$bits"
  LANES=$(lanes_here) python <<'PYTHON'
from sealed_harness import *

for lanes in LANES:
    for context in (b"", b"\0", b"gpuaes-stream/1\n\x01", bytes(range(256)) * 4):
        sizes = [0, 16384, 100000] if context else [0, 1, 15, 16, 17, 16383, 16384, 16385, 32768, 100000]
        for size in thinned(sizes, 3, lanes):
            options = ["-f", "cobblestone", "-k", key, "-l", lanes, "-b", "32K"]
            if context:
                options += ["--context", context.hex().upper() if size else context.hex()]
            plain, what = make_input(size), f"{size} bytes, {8 * len(KEY)} bits"
            sealed = run(*options, data=plain, via="file")
            expect_equal(0, sealed.code, f"{what}: exit status to seal, {options}")
            expect_equal(56 + size + 16 * (size // SEGMENT + 1), len(sealed.out), f"{what}: size, {options}")
            try:
                opened = sf.open_message(KEY, context, sealed.out)
            except sf.Unopened as error:
                fail(f"{what}: expected the independent implementation to open it, got {error} ({options})")
            expect_same(plain, opened, f"{what}, sealed by the program with {options}")
            expect_open(sf.message(KEY, context, plain), plain, *options, what=f"{what}, sealed independently")
            expect_open(sealed.out, plain, *options, what=f"{what}, sealed and opened by the program")
PYTHON
done
