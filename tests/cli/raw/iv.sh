#!/usr/bin/env bash
# The raw format needs --iv with exactly 32 digits.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000 plain
raw() { "$program" -f raw -q -k "$key" "$@" <plain; }
for iv in 00000000000000000000000000000000 abcdefABCDEF0123456789abcdefABCD FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF; do
  reference <plain >expected
  expect_exit 0 raw --iv "$iv"
  same expected "$work/stdout" "--iv $iv"
  expect_exit 0 raw "--iv=$iv"
  same expected "$work/stdout" "--iv=$iv"
done

expect_exit 2 raw
expect_error 'the raw format requires --iv' 'give a new IV in hexadecimal; never use an IV twice with the same key'
expect_exit 2 raw -d
expect_error 'the raw format requires --iv' 'give the IV that the input was encrypted with, in hexadecimal'
good=0123456789abcdef0123456789abcdef
for bad in '' 0 "${good:1}" "${good:2}" "${good:16}" "${good}0" "${good}00" "$good$good" "0x$good" "0x${good:2}" \
  "${good:1}g" "g${good:1}" "${good:0:16} ${good:17}" " ${good:1}" "${good:1} " "${good:0:15}-${good:16}" \
  "+${good:1}" "${good:1}é"; do
  expect_exit 2 raw --iv "$bad"
  expect_stderr 'iv'
done
expect_exit 2 raw --iv
