#!/usr/bin/env bash
# -l auto:low-cpu does the same work with at most as many CPU lanes as auto, and -v prints why.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 3000000 plain
reference <plain >expected
explained=("$program" -v -f raw --iv "$iv" -k "$key" -l auto:low-cpu)
# shellcheck disable=SC2002 # the input must be a pipe
from_pipe() { cat plain | "${explained[@]}"; }

# expect_lanes COUNT
expect_lanes() {
  expect_stderr "^gpuaes-stream: lanes cpu:$1 \(auto:low-cpu: .*CUDA.*\)\$"
  same expected "$work/stdout" "$1 lanes"
}
expect_exit 0 "${explained[@]}" plain
cpus=$("$program" --list-lanes | sed -n 's/^cpu:\([0-9]*\).*/\1/p')
expect_lanes $(((cpus + 1) / 2))
expect_exit 0 from_pipe
expect_lanes 1

expect_exit 2 gs -l auto:low-cpu -T 1 plain
expect_error '--lanes and --threads cannot be used together'
expect_exit 0 "$parts" plan -k "$key" -o dir
expect_exit 0 "$parts" seal dir -q -l auto:low-cpu --part 0 -i plain
expect_exit 0 "$parts" join dir --count 1 -o sealed
expect_exit 0 gsealed -d -l auto:low-cpu sealed -o opened
same plain opened "gpuaes-parts"
