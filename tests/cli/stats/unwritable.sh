#!/usr/bin/env bash
# If --stats cannot be written, the program fails before it writes anything else.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000000 plain
for out in missing/stats plain/stats .; do
  expect_exit 1 gs -i plain --stats "$out"
  expect_empty "$work/stdout"
  expect_exit 1 gs -i plain -o out --stats "$out"
done
expect_files plain
