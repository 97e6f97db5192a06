#!/usr/bin/env bash
# Short reads, from a writer that pauses between small pieces, are not mistaken for the end of input.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

pieces() {
  perl -e '$| = 1; for $i (0 .. 60) { print substr "0123456789abcdefg" x 9, 0, 7 + 2 * $i; select undef, undef, undef, 0.005 }'
  sleep 0.3
  printf 'after a pause'
  sleep 0.3
  printf '!'
}
pieces >plain
reference <plain >expected
for size in 16 64K; do
  through() { pieces | gs -b "$size" | cat; }
  expect_exit 0 through
  same expected "$work/stdout" "-b $size"
done
