#!/usr/bin/env bash
# If the file system has no space for a second copy of the file, or its size exceeds a limit, --rekey fails with status
# 1, the file is complete with its old slots, and no other file is left.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

umask 077
"$keygen" -o new
make_input 1000000 plain
gsealed -e <plain >before
unchanged() { # FILE
  same before "$1"
  [ "$(find "$(dirname "$1")" -name '.*.gpuaes-*' | wc -l)" = 0 ] || fail "expected no other file"
}

cp before sealed
limited() { (ulimit -f 500 && "$program" --rekey -k "$key" --new-key new -i sealed); }
expect_exit 1 limited
expect_stderr 'cannot write sealed( after byte [0-9]+)?: File too large'
expect_stderr 'hint: .*ulimit -f'
unchanged sealed

need mkfs.ext4
truncate -s 4M image
mkfs.ext4 -q image
mount_or_skip small -t tmpfs -o size=1500k tmpfs
mount_or_skip disk -o loop image
cp before disk/sealed
cp before small/sealed
head -c "$(($(stat -f -c '%f * %S' disk) - 300000))" /dev/zero >disk/other 2>/dev/null || true
for file in small/sealed disk/sealed; do
  expect_exit 1 "$program" --rekey -k "$key" --new-key new -i "$file"
  expect_stderr "cannot write $file( after byte [0-9]+)?: No space left on device"
  expect_stderr "hint: .*free some space"
  unchanged "$file"
done
rm disk/other
expect_exit 0 "$program" --rekey -k "$key" --new-key new -i disk/sealed
expect_exit 0 "$program" -d -k new -i disk/sealed
same plain "$work/stdout"
