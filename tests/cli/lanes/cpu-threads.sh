#!/usr/bin/env bash
# The output does not depend on the number of CPU lanes.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 3000001 plain
reference <plain >expected
for lanes in auto cpu cpu:1 cpu:2 cpu:3 cpu:7; do
  for size in 16K 1M; do
    expect_exit 0 gs -l "$lanes" -b "$size" <plain
    same expected "$work/stdout" "-l $lanes -b $size"
    expect_exit 0 gs -d -l "$lanes" -b "$size" <expected
    same plain "$work/stdout" "-d -l $lanes -b $size"
  done
done
