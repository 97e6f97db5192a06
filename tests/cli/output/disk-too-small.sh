#!/usr/bin/env bash
# If the disk has no space for the output, the program fails before it writes anything, and leaves no file. Space that
# was reserved but not needed is released.
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
  expect_stderr "hint: 67108864 bytes are needed; free some space, or write to another file system$"
done
[ "$(<disk/old)" = old ] || fail "expected the old content"
[ "$(find disk -type f | wc -l)" -eq 1 ] || fail "expected no other file"

make_input 3000001 plain
reference <plain >expected
expect_exit 0 gs -i plain -o disk/new
same expected disk/new
blocks=$(stat -c %b disk/new)
[ "$((blocks * 512))" -lt 3200000 ] || fail "expected no more space than the file needs, got $blocks blocks"
