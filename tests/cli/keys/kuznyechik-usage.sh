#!/usr/bin/env bash
# Kuznyechik is used only if -c names it. It needs a key of 32 bytes, an IV of 8 bytes in the raw format, and a format
# and lanes that support it.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000 plain
kuznyechik() { "$program" -f raw -c kuznyechik -q "$@" -i plain; }
good=1234567890abcef0
expect_exit 0 kuznyechik -k "$key" --iv "$good"
cp "$work/stdout" expected
[ "$(wc -c <expected)" = 1000 ] || fail "expected 1000 bytes, got $(wc -c <expected)"
expect_exit 0 kuznyechik -k "$key" --iv "${good^^}" -l reference
same expected "$work/stdout" "IV in uppercase"

for bad in '' 0 "${good:1}" "${good:2}" "${good}0" "$good$good" "0x${good:2}" "${good:1}g"; do
  for direction in -e -d; do
    expect_exit 2 kuznyechik "$direction" -k "$key" --iv "$bad"
    expect_stderr 'iv'
  done
done
expect_exit 2 kuznyechik -k "$key"
expect_stderr '--iv'
expect_exit 2 kuznyechik --iv "$good"
for bits in 128 192; do
  expect_exit 2 kuznyechik -k "$work/key$bits" --iv "$good"
  expect_stderr '32 bytes'
  expect_exit 2 "$program" -c kuznyechik -k "$work/key$bits" -i plain
  expect_stderr '32 bytes'
done
expect_exit 2 "$program" -c kuznyechik --iv "$good" -k "$key" -i plain # the sealed format takes no IV
expect_exit 2 "$program" -f raw --iv "$good" -k "$key" -i plain # without -c the cipher is AES
for name in Kuznyechik kuznyechik-ctr kuz; do
  expect_exit 2 "$program" -f raw -c "$name" --iv "$good" -k "$key" -i plain
  expect_stderr 'kuznyechik'
done

(umask 077 && echo 'correct horse' >"$work/words")
for direction in -e -d; do
  expect_exit 2 "$program" "$direction" -f cobblestone -c kuznyechik -k "$key" -i plain
  expect_stderr 'kuznyechik'
  expect_exit 2 "$program" "$direction" -f openssl -c kuznyechik --passphrase-file "$work/words" -i plain
  expect_stderr 'kuznyechik'
done
