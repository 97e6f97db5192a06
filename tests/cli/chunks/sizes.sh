#!/usr/bin/env bash
# The output does not depend on the chunk size, at lengths around one and several chunks, from files and from pipes.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

try() { # SIZE [OPTION]...
  local size=$1
  shift
  make_input "$size" plain
  reference <plain >expected
  expect_exit 0 gs "$@" <plain
  same expected "$work/stdout" "file of $size bytes, options: $*"
  # shellcheck disable=SC2002 # the input must be a pipe
  from_pipe() { cat plain | gs "$@"; }
  expect_exit 0 from_pipe "$@"
  same expected "$work/stdout" "pipe of $size bytes, options: $*"
}

for size in 15 16 17 4099; do try "$size" -b 16; done
for size in 4095 4096 4097 200001; do try "$size" -b 4K; done
for size in 65535 65536 65537 5000001; do try "$size" -b 64K; done
for size in 1048575 1048576 1048577 4194303 4194304 4194305 20000003; do try "$size"; done
