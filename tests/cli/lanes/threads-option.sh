#!/usr/bin/env bash
# -T N means the same as -l cpu:N.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000000 plain
reference <plain >expected
for option in -T3 "-T 3" "--threads 3" --threads=3; do
  # shellcheck disable=SC2086 # two words
  expect_exit 0 "$program" -v -f raw --iv "$iv" -k "$key" $option plain
  same expected "$work/stdout" "$option"
  expect_stderr '^gpuaes-stream: lanes cpu:3$'
done
for number in 0 -1 +1 1025 x 1x 1+cpu auto '' ' 1'; do
  expect_exit 2 gs -T "$number" plain
  expect_error "invalid --threads '$number'" 'use a number from 1 to 1024, or omit the option to let the program choose'
done
expect_exit 2 gs -T 2 -l cpu:2 plain
expect_error '--lanes and --threads cannot be used together'
