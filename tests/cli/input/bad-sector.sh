#!/usr/bin/env bash
# A disk that cannot read one of its sectors: the error names the byte where reading failed, and the output before it is
# correct.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need losetup blockdev

# A loop device cannot read sectors that its file no longer contains.
make_input $((8 << 20)) image
reference <image >expected
tail -c +1001 image | reference >expected-rest
loop=$(losetup --find --show image 2>/dev/null) || skip "losetup cannot create a loop device"
at_exit "losetup --detach $loop"
[ -b "$loop" ] || skip "$loop does not exist"
good=$((76 * 65536))
truncate -s "$good" image
blockdev --flushbufs "$loop"
cat "$loop" >/dev/null 2>&1 && skip "$loop has no bad sectors"

# expect_bad_sector NAME SIZE EXPECTED: the error is in the first SIZE bytes, and the output matches EXPECTED up to there.
# The kernel may have read the bad sector together with good ones before it.
expect_bad_sector() {
  local at
  at=$(sed -n "s|^gpuaes-stream: error: cannot read $1 at byte \([0-9]*\): Input/output error\$|\1|p" "$work/stderr")
  [[ -n $at && $at -le $2 ]] || fail "expected a bad sector after at most $2 bytes, got: $(<"$work/stderr")"
  [ "$(wc -c <"$work/stdout")" -le "$at" ] || fail "expected at most $at bytes of output, got $(wc -c <"$work/stdout")"
  same <(head -c "$(wc -c <"$work/stdout")" "$3") "$work/stdout" "output before the error"
}

for lanes in cpu:1 cpu:3; do
  for size in 64K 1M; do
    blockdev --flushbufs "$loop"
    expect_exit 1 gs -b "$size" -l "$lanes" -i "$loop"
    expect_bad_sector "$loop" "$good" expected
    blockdev --flushbufs "$loop"
    expect_exit 1 gs -b "$size" -l "$lanes" -i "$loop" -o out
    expect_files image expected expected-rest
  done
done

# From an offset. The message counts from there.
exec 3<"$loop"
dd bs=1000 count=1 status=none <&3 >/dev/null
blockdev --flushbufs "$loop"
expect_exit 1 gs -b 256K <&3
expect_bad_sector "standard input" $((good - 1000)) expected-rest
