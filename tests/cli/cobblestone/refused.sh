#!/usr/bin/env bash
# A bare message with another key or context, or a changed salt or commitment, fails with status 3 before any output. A
# truncated header or a damaged segment fails with status 4. A key of 24 bytes, several keys and a bad context are usage
# errors.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

make_input 100 plain
for direction in -e -d; do
  bare() { "$program" "$direction" -f cobblestone "$@" <plain; }
  expect_exit 2 bare -k "$work/key192"
  expect_exit 2 bare
  expect_exit 2 bare -k "$key" -k "$work/key128"
  expect_exit 2 bare -k "$key" --iv "$iv"
  expect_exit 2 bare -k "$key" --iter 10000
  for context in 0 000 0g g0 0x00 '00 ' ' 00' 00-0 "00é"; do
    expect_exit 2 bare -k "$key" --context "$context"
    expect_stderr 'error: --context (has [0-9]+ digits; it must have an even number of digits, at most|contains a character that is not a hexadecimal digit)'
  done
  expect_exit 2 bare -k "$key" --context
  expect_exit 2 bare -k "$key" --context 00 --context 00
  expect_exit 2 "$program" "$direction" -f raw --iv "$iv" -k "$key" --context 00 <plain
done

for bits in 128 256; do
  use_key "$bits"
  python <<'PYTHON'
from sealed_harness import *

plain = make_input(2 * SEGMENT + 1000)
secret_file("other", OTHER_KEY[: len(KEY)])
secret_file("other-length", OTHER_KEY[: 48 - len(KEY)])
bare = ["-f", "cobblestone", *QUICK]
sealed = sf.message(KEY, b"", plain)
bound = sf.message(KEY, b"context", plain)


def refused(want, data, *options, what):
    via = ("pipe", "file")[len(data) % 2]
    got = expect_refused(want, data, *bare, *options, what=what, via=via)
    if want == 3:
        expect_message(got, "error: this key and context do not open the input\n.*"
                       "hint: check -f, -k and --context; if they are right, the first 56 bytes of the input are damaged\n", what)


refused(3, sealed, "-k", "other", what="another key")
refused(3, sealed, "-k", "other-length", what="a key of another length")
refused(3, sealed, "--context", "00", what="a context for a message without one")
refused(3, bound, what="no context for a message with one")
refused(3, bound, "--context", b"Context".hex(), what="another context")
refused(3, bound, "--context", b"context\0".hex(), what="a longer context")
expect_open(bound, plain, *bare, "--context", b"context".hex(), what="the context")
for i in thinned(range(56), 5):
    refused(3, flip(sealed, i, i % 8), what=f"byte {i} of salt and commitment flipped")
    refused(4, sealed[:i], what=f"{i} bytes of salt and commitment")
for i in range(3):
    for at in (0, 500, 1000, 1015):
        changed = flip(sealed, 56 + i * SEALED + at)
        expect_damage(changed, i, plain, *bare, what=f"segment {i}, byte {at}", start=56)
for length in (56, 57, 71, 72, 73, 56 + SEALED - 1, 56 + SEALED, 56 + 2 * SEALED, 56 + 2 * SEALED + 15, len(sealed) - 1):
    good = (length - 56) // SEALED
    expect_damage(sealed[:length], good, plain, *bare, what=f"truncated to {length} bytes", start=56, cut=True)
expect_trailing(sealed + b"x", len(sealed), plain, *bare, what="a byte appended")
expect_trailing(sealed + sealed, len(sealed), plain, *bare, what="two messages joined")
PYTHON
done
