#!/usr/bin/env bash
# The counter is a big-endian number of 128 bits: it carries past 2^32 and 2^64 and wraps at 2^128.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 5003 plain
for iv in 000000000000000000000000ffffffff 0123456789abcdef01234567fffffff0 0000000000000000ffffffffffffffff \
  01234567fffffffffffffffffffffff3 ffffffffffffffffffffffffffffffff fffffffffffffffffffffffffffffff8 \
  00000000ffffffffffffffffffffff00; do
  for bits in 128 192 256; do
    use_key "$bits"
    reference <plain >expected
    for options in "-b 16 -l cpu:3" "-b 64 -l cpu:2" "-b 4K -l cpu:1"; do
      # shellcheck disable=SC2086 # several options
      expect_exit 0 gs $options <plain
      same expected "$work/stdout" "aes-$bits, iv $iv, $options"
    done
  done
done
