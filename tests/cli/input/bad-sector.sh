#!/usr/bin/env bash
# A disk that cannot read one of its sectors: the error names the first byte that cannot be read, and the output before
# the error is correct.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need losetup blockdev

# A loop device cannot read sectors that its file no longer contains.
make_input $((8 << 20)) image
reference <image >expected
loop=$(losetup --find --show image 2>/dev/null) || skip "losetup cannot create a loop device"
at_exit "losetup --detach $loop"
[ -b "$loop" ] || skip "$loop does not exist"
good=$((76 * 65536))
truncate -s "$good" image
blockdev --flushbufs "$loop"
cat "$loop" >/dev/null 2>&1 && skip "$loop has no bad sectors"

for lanes in cpu:1 cpu:3; do
  for size in 64K 1M; do
    blockdev --flushbufs "$loop"
    expect_exit 1 gs -b "$size" -l "$lanes" -i "$loop"
    expect_error "cannot read $loop at byte $good: Input/output error"
    same <(head -c "$(wc -c <"$work/stdout")" expected) "$work/stdout" "-b $size -l $lanes"
    blockdev --flushbufs "$loop"
    expect_exit 1 gs -b "$size" -l "$lanes" -i "$loop" -o out
    expect_files image expected
  done
done

# From an offset. The message counts from there.
exec 3<"$loop"
dd bs=1000 count=1 status=none <&3 >/dev/null
blockdev --flushbufs "$loop"
expect_exit 1 gs -b 64K <&3
expect_error "cannot read standard input at byte $((good - 1000)): Input/output error"
