#!/usr/bin/env bash
# gpuaes-stream recognizes a part, an index and a job file, which it cannot decrypt.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/parts.sh"

make_input 1000 plain
plan job
"$parts" seal -q --job job --part 0/1 -i plain -o part
"$parts" join -q --job job --ends ends part
for option in -d --test --salvage; do
  for name in part ends.index; do
    expect_exit 4 gsealed $option -i "$name"
    expect_error "$name: the input is a part or an index, not a whole file" \
      'join the parts with gpuaes-parts, and decrypt the result'
  done
  expect_exit 4 gsealed $option -i job
  expect_error 'job: this is a gpuaes-parts job file, not a gpuaes-stream one' \
    'join the parts with gpuaes-parts, and decrypt the result'
done
