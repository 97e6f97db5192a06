#!/usr/bin/env bash
# A disk that has no room for the output is noticed before anything is written; nothing is left, and of room that
# was taken nothing is kept.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need mkfs.ext4

truncate -s 16M image
mkfs.ext4 -q image
mount_or_skip disk -o loop image
printf 'old' >disk/old
truncate -s 64M large
for out in disk/new disk/old; do
  expect_exit 1 gs -i large -o "$out" --stats stats
  expect_stderr "cannot write $out: No space left on device"
  expect_stderr "hint: 67108864 bytes are needed"
done
[ "$(<disk/old)" = old ] || fail "expected the old content"
[ "$(find disk -type f | wc -l)" -eq 1 ] || fail "expected nothing else there"

make_input 3000001 plain
reference <plain >expected
expect_exit 0 gs -i plain -o disk/new
same expected disk/new
blocks=$(stat -c %b disk/new)
[ "$((blocks * 512))" -lt 3200000 ] || fail "expected no more room than the file needs, got $blocks blocks"
