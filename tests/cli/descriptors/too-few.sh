#!/usr/bin/env bash
# If the system allows too few descriptors, the program fails with a message that says so, and writes no file.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
if sanitized; then skip "UndefinedBehaviorSanitizer needs descriptors itself"; fi

make_input 1000 plain
limited() { (ulimit -n "$1" && exec "$program" -k "$key" -i plain -o out); }
for count in 5 6 7 8; do
  expect_exit 1 limited "$count"
  expect_stderr 'error: cannot .*Too many open files'
  expect_files plain
done
expect_exit 1 limited 5
expect_error 'cannot create a thread or another system resource: Too many open files'
