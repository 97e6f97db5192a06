#!/usr/bin/env bash
# Files in /proc and /sys, whose reported size is not that of their content, are read completely.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

tried=0
for file in /proc/version /proc/filesystems /proc/crypto \
  /sys/kernel/mm/transparent_hugepage/enabled /sys/kernel/cpu_byteorder /sys/kernel/fscaps /sys/devices/system/cpu/possible; do
  [ -r "$file" ] || continue
  cat "$file" >plain
  reference <plain >expected
  for size in 16 1M; do
    expect_exit 0 gs -b "$size" -i "$file"
    same expected "$work/stdout" "$file, -b $size"
    expect_exit 0 gs -b "$size" <"$file"
    same expected "$work/stdout" "<$file, -b $size"
  done
  tried=$((tried + 1))
done
[ "$tried" -gt 0 ] || skip "cannot read any of these files"
