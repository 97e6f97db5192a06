#!/usr/bin/env bash
# A file name may contain spaces, have any encoding and be as long as the system allows.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000 plain
reference <plain >expected
long=$(printf 'n%.0s' {1..255})
for name in 'two words' ' ' 'umlaut ä' $'not UTF-8 \xff' $'line\nfeed' "$long" '*' 'a=b' '%s'; do
  expect_exit 0 gs -i plain -o "$name"
  same expected "./$name"
  expect_exit 0 gs -d "--input=$name" -o opened
  same plain opened "opened: $name"
done
for name in -x --decrypt; do
  expect_exit 0 gs -i plain "--output=$name"
  same expected "./$name"
done
expect_exit 1 gs -i plain -o "${long}n"
