#!/usr/bin/env bash
# The raw format takes exactly one key, with the cipher's length.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000 plain
for bits in 128 192 256; do
  use_key "$bits"
  reference <plain >expected
  for cipher in 128 192 256; do
    if [ "$cipher" = "$bits" ]; then
      expect_exit 0 gs -c "aes-$cipher" <plain
      same expected "$work/stdout" "-c aes-$cipher"
    else
      expect_exit 2 gs -c "aes-$cipher" <plain
      expect_stderr "aes-$cipher|$cipher|bytes"
    fi
  done
done

expect_exit 2 gs -k "$work/key128"
expect_error 'the raw format does not accept more than one key' 'formats that accept it: sealed'
expect_exit 2 gs --key="$key"
expect_exit 2 "$program" -f raw --iv "$iv"
expect_error 'no key or passphrase was given' \
  'name a key file with -k (gpuaes-keygen makes one) or a recipient with -r, or use -p to enter a passphrase'
expect_exit 2 "$program" -f raw --iv "$iv" -k
for cipher in des aes aes-512 aes128 AES_256 ''; do
  expect_exit 2 gs -c "$cipher"
  expect_error "unknown cipher '$cipher'" 'the ciphers are aes-128, aes-192, aes-256, kuznyechik'
done
