#!/usr/bin/env bash
# --stats can write wherever -o can, but never over the output or the input.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 100000 plain
cp plain input
reference <plain >expected
expect_exit 0 gs -i input -o out --stats /dev/stdout
grep -Eq '"bytes_in": *100000' "$work/stdout" || fail "expected stats on stdout, got: $(<"$work/stdout")"
same expected out

either() { # the manual does not specify which of 1 and 2
  local got=0
  gs "$@" || got=$?
  case $got in 1 | 2) return 1 ;; *) return "$got" ;; esac
}
printf 'old' >old
expect_refused() {
  expect_exit 1 either "$@"
  same plain input "input, after $*"
  [ "$(<old)" = old ] || fail "expected the old content, after $*"
  expect_files expected input old out plain
}
expect_refused -i input -o new --stats new
expect_refused -i input -o old --stats old
expect_refused -i input -o old --stats ./old
expect_refused -i input -o new --stats input
expect_refused -i input --stats input
expect_exit 2 gs -i input -o new --stats new
expect_error '--stats and --output are the same file'
