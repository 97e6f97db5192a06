#!/usr/bin/env bash
# -b accepts the suffixes K, M and G, which are powers of 1024, and rounds up to whole blocks.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 300007 plain
reference <plain >expected
for size in 1 15 17 1000 1K 3K 1M 16M; do
  if [ "$size" = 1 ]; then head -c 3000 plain; else cat plain; fi >part
  head -c "$(wc -c <part)" expected >expected.part
  expect_exit 0 gs -b "$size" -l cpu:1 <part
  same expected.part "$work/stdout" "-b $size"
done

# The number of chunks shows their size. An empty chunk at the end may also count.
expect_chunks() { # COUNT CHUNK_SIZE INPUT_SIZE
  local got
  truncate -s "$3" input
  expect_exit 0 gs -b "$2" -l cpu:1 --stats stats -i input
  got=$(perl -0ne 'print $1 if /"chunks"\s*:\s*(\d+)/' stats)
  [ "$got" = "$1" ] || [ "$got" = $(($1 + 1)) ] || fail "-b $2, $3 bytes: expected $1 chunks, got $got"
}
expect_chunks 50 1 800
expect_chunks 50 16 800
expect_chunks 50 17 1600
expect_chunks 50 32 1600
expect_chunks 50 2K 100K
expect_chunks 5 1M 5M
