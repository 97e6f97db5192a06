#!/usr/bin/env bash
# A key with a wrong length or an invalid digit fails with status 2. It is never padded or truncated, and the message
# shows no part of it. A file that cannot be read fails with status 1.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

try() { # STATUS FILE
  expect_exit "$1" "$program" -f raw --iv "$iv" -k "$2" </dev/null
  expect_empty "$work/stdout"
}
for size in 1 15 17 23 25 31 33 47 49 63 65 66 100 5000; do
  make_input "$size" file # begins with 0, 1, 2 ..., which are not digits
  try 2 file
done
: >file
try 2 file
expect_error '--key: file is empty' 'a key is 16, 24 or 32 raw bytes, or 32, 48 or 64 hexadecimal digits'
hex=9d3c71e5b2f8460a9d3c71e5b2f8460a9d3c71e5b2f8460a9d3c71e5b2f8460a
for size in 33 47 49 62 63; do
  printf '%s\n' "${hex:0:size}" >file
  try 2 file
  expect_error "--key: the key in file has $size hexadecimal digits" \
    'a key is 16, 24 or 32 raw bytes, or 32, 48 or 64 hexadecimal digits'
done
for bad in g G z . - ' ' x; do
  for size in 48 64; do
    for at in 0 1 20 47; do
      text=${hex:0:at}$bad${hex:at+1:size-at-1}
      [ "${text: -1}" != ' ' ] || continue
      printf '%s\n' "$text" >file
      try 2 file
      expect_no_stderr '[0-9a-f]{8}'
    done
  done
done
printf '%s\n%s\n' "${hex:0:32}" "${hex:0:32}" >file
try 2 file
printf '0x%s\n' "${hex:0:32}" >file
try 2 file
printf '%sg\n' "${hex:0:63}" >file
try 2 file
expect_error '--key: the key in file has 64 characters, but not all are hexadecimal digits' \
  'a key is 16, 24 or 32 raw bytes, or 32, 48 or 64 hexadecimal digits'
unhex "${key_hex[256]}" >file
printf '\n' >>file
try 2 file

try 1 no-such-file
expect_error '--key: cannot open no-such-file: No such file or directory'
mkdir directory
try 1 directory
try 1 /proc/self/mem
