#!/usr/bin/env bash
# --range seeks in a file that is standard input, relative to its offset, and leaves it positioned after the bytes that
# it used. It also seeks in a block device, and reports that it cannot seek in a pipe.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 200000 plain
gsealed -e -i plain -o sealed
dd if=plain bs=1000 skip=50 count=1 status=none >expected

expect_exit 0 gsealed --range 50000:1000 <sealed
same expected "$work/stdout"
cat <(head -c 12345 plain) sealed >late
exec 3<late
dd bs=12345 count=1 status=none <&3 >skipped
expect_exit 0 gsealed --range 50000:1000 <&3
same expected "$work/stdout" "a stream that begins within the file"
# Bytes 50000 to 50999 are in segment 3.
[ "$(cat <&3 | wc -c)" = "$(($(stat -c %s sealed) - 175 - 4 * 16400))" ] ||
  fail "expected standard input to be positioned after segment 3"
exec 3<&-

for options in '' '-d' '-f sealed' "-f raw --iv $iv"; do
  # shellcheck disable=SC2086
  expect_exit 2 gsealed $options --range 0:1 < <(cat sealed)
  expect_error '--range requires a seekable input' 'name a file with -i, or redirect standard input from a file'
done
expect_exit 2 gsealed --range 0:1 </dev/zero
mkfifo fifo
cat sealed >fifo &
expect_exit 2 gsealed --range 0:1 -i fifo -o out
wait || true
[ ! -e out ] || fail "expected no output"

if [ "$(id -u)" != 0 ] || ! command -v losetup >/dev/null; then skip "block devices: cannot create a loop device"; fi
truncate -s $((512 * 2000)) plain
# Only the raw format can fill a device of whole sectors exactly.
gs -i plain -o raw
device=$(losetup -f --show raw 2>/dev/null) || skip "block devices: cannot create a loop device"
at_exit "losetup -d $device"
expect_exit 0 gs --range 70000:1000 -i "$device"
dd if=plain bs=1000 skip=70 count=1 status=none >expected
same expected "$work/stdout" "a block device"
