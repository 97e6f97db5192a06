#!/usr/bin/env bash
# The fuzzer's seeds match their names: the key or the identity 00 01 02 ... opens those named opens-*, with the
# plaintext that tests/fuzz/header_fuzz.cpp expects, and the program refuses the others.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

corpus=$top/tests/fuzz/corpus/header
echo 'some text' >expected
(umask 077 && echo GPUAES-SECRET-KEY-1QQQSYQCYQ5RQWZQFPG9SCRGWPUGPZYSNZS23V9CCRYDPK8QARC0SHGQTRK >identity)

for seed in "$corpus"/opens-*; do
  expect_exit 0 gsealed -d -k identity -i "$seed"
  same expected "$work/stdout" "$seed"
done
for seed in "$corpus"/refused-*; do
  [ -f "$seed" ] || fail "no $seed"
  status=0
  gsealed -d -k identity -i "$seed" >"$work/stdout" 2>"$work/stderr" || status=$?
  case $status in
    1 | 3 | 4) check_messages "$status" "$seed" ;;
    *) fail "$seed: expected exit status 1, 3 or 4, got $status" ;;
  esac
  expect_empty "$work/stdout" "$seed"
done
(umask 077 && printf %s "${key_hex[256]}" >passphrase)
expect_exit 0 "$program" -q -d -f openssl --iter 1 --passphrase-file passphrase -i "$corpus/openssl-salted"
same expected "$work/stdout" openssl-salted
