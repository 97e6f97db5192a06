#!/usr/bin/env bash
# With the sealed format, a missing secret, a key that does not have 32 bytes, and options of other formats are usage
# errors.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

umask 077
make_input 1000 plain
printf 'correct horse\n' >passphrase
gsealed -e <plain >sealed
for direction in -e -d; do
  for file in plain sealed; do
    try() { "$program" "$direction" "$@" <"$file"; }
    for bits in 128 192; do
      expect_exit 2 try -f sealed -k "$work/key$bits"
      expect_exit 2 try -f sealed -k "$key" -k "$work/key$bits"
    done
    expect_exit 2 try -f sealed -k "$key" --context 00
    expect_exit 2 try -f sealed -k "$key" --iv "$iv"
    expect_exit 2 try -f sealed -k "$key" --iter 10000
    expect_exit 2 try -f sealed -f sealed -k "$key"
    expect_exit 2 try -k "$key" --iv "$iv"
    expect_exit 2 try -p --passphrase-file passphrase
  done
done
for format in '' '-f sealed'; do
  # shellcheck disable=SC2086 # several words
  expect_exit 2 "$program" $format <plain
  expect_error 'no key or passphrase was given' \
    'name a key file with -k (gpuaes-keygen makes one) or a recipient with -r, or use -p to enter a passphrase'
  # shellcheck disable=SC2086 # several words
  expect_exit 2 "$program" -d $format <sealed
  expect_error 'the input was sealed with a key file, and none was given' 'name the key file with -k'
done
for option in '--context 00' '--iter 1'; do
  # shellcheck disable=SC2086 # several words
  expect_exit 2 gsealed $option <plain
done
for bits in 128 192; do
  expect_exit 2 "$program" -k "$work/key$bits" <plain
  expect_stderr '32|256'
  expect_exit 2 "$program" -d -k "$work/key$bits" <sealed
done

expect_exit 2 "$program" -q -d -c kuznyechik -k "$key" <sealed
expect_error 'the input was sealed with aes-256, not kuznyechik' 'omit --cipher; the input names its cipher'

# Formats that take only keys refuse a passphrase.
expect_exit 2 "$program" -f raw --iv "$iv" --passphrase-file passphrase <plain
expect_exit 2 "$program" -f cobblestone --passphrase-file passphrase <plain
expect_exit 2 "$program" -f cobblestone -d --passphrase-file passphrase <plain
