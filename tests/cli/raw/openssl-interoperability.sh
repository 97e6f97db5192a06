#!/usr/bin/env bash
# The raw format and openssl enc produce the same output and read each other's, with three key lengths, at lengths
# around every boundary.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

for size in 0 1 15 16 17 255 16383 16384 16385; do
  make_input "$size" plain
  for bits in 128 192 256; do
    use_key "$bits"
    reference <plain >expected
    expect_exit 0 gs <plain
    same expected "$work/stdout" "aes-$bits of $size bytes, encrypted"
    mv "$work/stdout" ours
    reference <ours >opened # in CTR mode decryption is the same as encryption
    same plain opened "aes-$bits of $size bytes, decrypted by openssl"
    expect_exit 0 gs -d <expected
    same plain "$work/stdout" "aes-$bits of $size bytes, encrypted by openssl"
  done
done
