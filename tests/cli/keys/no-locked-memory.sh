#!/usr/bin/env bash
# Where no memory may be locked, the program works all the same.
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
