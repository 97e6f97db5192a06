#!/usr/bin/env bash
# A mistyped option names the nearest one, and an option without its value shows what it takes.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

list='run with --help for a list of options'
unknown() { # OPTION NEAREST
  expect_exit 2 gs "$1"
  expect_error "unknown option '${1%%=*}'" "perhaps you meant $2"
}
unknown --decription --decrypt
unknown --decryption --decrypt
unknown --encryption --encrypt
unknown --ecnrypt --encrypt
unknown --kye --key
unknown --keyfile=x --key
unknown --password --passphrase
unknown --password-file=x --passphrase-file
unknown --recepient --recipient
unknown --outputfile --output
unknown --cypher --cipher
unknown --chunksize=1 --chunk-size
unknown --iterations --iter
for option in --no-such-option --x --file --type -x -K; do
  expect_exit 2 gs "$option"
  expect_error "unknown option '$option'" "$list"
done
expect_exit 2 gs --=plain
expect_error "unknown option '--'" "$list"
! "$keygen" --x25591 2>"$work/stderr" || fail "keygen: expected an error"
expect_error "unknown option '--x25591'" 'perhaps you meant --x25519'

missing() { # OPTION LONG-OPTION HINT
  expect_exit 2 gs "$1"
  expect_error "option '$2' requires a value" "$3"
}
for option in -c --cipher --ciph --cipher= --ciph= -dc; do
  missing $option --cipher '--cipher CIPHER: aes-128, aes-192, aes-256 or kuznyechik'
done
missing -f --format '--format FORMAT: sealed (the default), cobblestone, openssl or raw'
missing -k --key '--key FILE: Read a key from FILE, or, to decrypt, an identity'
missing --chunk-size --chunk-size '--chunk-size SIZE: Process SIZE bytes of plaintext at a time'
missing --iter --iter '--iter N: OpenSSL format: the number of PBKDF2 iterations (default 10000)'
! "$bench" kernels --sizes 2>"$work/stderr" || fail "bench: expected an error"
expect_error "option '--sizes' requires a value" '--sizes SIZES: Bytes per launch, separated by commas (default 1K,4K,16K,...,1G)'

for option in --decrypt=yes --decrypt= --decr=yes; do
  expect_exit 2 gs "$option"
  expect_error "option '--decrypt' does not take a value" "$list"
done
