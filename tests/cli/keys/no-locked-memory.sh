#!/usr/bin/env bash
# The program works if it cannot lock memory.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_user

make_input 100000 plain
reference <plain >expected
unlocked() (
  ulimit -l 0
  "${as_user[@]}" "$program" -f raw --iv "$iv" -q -k "$key"
)
expect_exit 0 unlocked <plain
same expected "$work/stdout"
