#!/usr/bin/env bash
# A block device works as input, in the page cache or not, from its start and from an offset, and as output.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need losetup blockdev

make_input $((3 * 1048576 + 512)) plain
cp plain image
loop=$(losetup --find --show image 2>/dev/null) || skip "losetup cannot create a loop device"
at_exit "losetup --detach $loop"
[ -b "$loop" ] || skip "$loop does not exist"

reference <plain >expected
tail -c +1001 plain | reference >expected-rest
for flush in true "blockdev --flushbufs $loop"; do
  for size in 64K 1M; do
    $flush
    expect_exit 0 gs -b "$size" -i "$loop"
    same expected "$work/stdout" "-i $loop"
    $flush
    expect_exit 0 gs -b "$size" <"$loop"
    same expected "$work/stdout" "<$loop"
  done
  exec 3<"$loop"
  $flush
  dd bs=1000 count=1 status=none <&3 >/dev/null
  expect_exit 0 gs -b 256K <&3
  same expected-rest "$work/stdout" "$loop from offset 1000"
  exec 3<&-
done

expect_exit 2 gs -i "$loop" -o "$loop"
expect_exit 0 gs -i plain -o "$loop"
[ -b "$loop" ] || fail "expected $loop to be still a device"
same expected <(cat "$loop") "-o $loop"
make_input $((4 * 1048576)) more
expect_exit 1 gs -i more -o "$loop"
