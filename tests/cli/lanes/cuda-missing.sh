#!/usr/bin/env bash
# If -l names a CUDA lane that does not exist, the program fails at the start instead of silently using the CPU.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000 plain
expect_exit 1 gs -l cuda:99 -i plain
expect_stderr 'error: (this program was built without CUDA|no NVIDIA driver is installed|no CUDA device is available: .*|there is no CUDA device 99; this machine has [0-9]+)$'
expect_stderr 'hint: (use -l cpu, which works on every machine|run gpuaes-stream --list-lanes to list the devices)$'
expect_empty "$work/stdout"
expect_exit 1 gs -l cpu:1+cuda:99 -i plain -o out
expect_stderr "CUDA|NVIDIA"
expect_files plain

if has_cuda; then skip "the rest: this system has a CUDA device"; fi
for lanes in cuda cuda:0 cuda:0:2 cpu+cuda:0; do
  expect_exit 1 gs -l "$lanes" -i plain
  expect_stderr "CUDA|NVIDIA"
  expect_empty "$work/stdout"
done
reference <plain >expected
expect_exit 0 gs -l auto -i plain
same expected "$work/stdout" "-l auto"
