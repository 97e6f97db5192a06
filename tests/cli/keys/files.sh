#!/usr/bin/env bash
# A key file contains 16, 24 or 32 bytes, raw or in hexadecimal; spaces and newlines may follow the digits.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000 plain
try() { # FILE WHAT
  expect_exit 0 "$program" -f raw --iv "$iv" -q -k "$1" <plain
  same expected "$work/stdout" "$2"
}
for bits in 128 192 256; do
  use_key "$bits"
  reference <plain >expected
  hex=${key_hex[$bits]}
  try "$key" "$bits bits, raw"
  for end in '' '\n' '\r\n' ' ' '\t' ' \t \n' '\n\n'; do
    printf "%s$end" "$hex" >file
    try file "$bits bits in hexadecimal, followed by '$end'"
    printf "%s$end" "${hex^^}" >file
    try file "$bits bits in uppercase hexadecimal, followed by '$end'"
  done
  try <(printf '%s\n' "$hex") "$bits bits in hexadecimal from /dev/fd"
  try <(cat "$key") "$bits bits, raw, from /dev/fd"
  slowly() { printf '%s' "${hex:0:9}" && sleep 0.2 && printf '%s\n' "${hex:9}"; }
  try <(slowly) "$bits bits in hexadecimal, in two pieces"
done

# Raw bytes are used unchanged, including spaces and newlines at the end.
for hex in 20202020202020202020202020200a0a 00000000000000000000000000000000 0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a; do
  key_hex[128]=$hex
  use_key 128
  unhex "${key_hex[128]}" >file
  reference <plain >expected
  try file "raw bytes ${key_hex[128]}"
done
# No key has 24 hexadecimal digits, so 24 bytes are always raw.
printf '0123456789abcdef01234567' >file
key_hex[192]=$(perl -0pe '$_ = unpack "H*"' file)
use_key 192
reference <plain >expected
try file "24 raw bytes that look like digits"
