#!/usr/bin/env bash
# A file sealed for several keys and a passphrase opens with any of them and with no other.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

umask 077
keys=()
for i in {1..32}; do
  printf '%064x\n' "$i" >"key$i"
  keys+=(-k "key$i")
done
printf '%064x\n' 33 >key33
printf 'correct horse\n' >passphrase
printf 'battery staple\n' >other
make_input 40000 plain

expect_exit 0 "$program" -q -k key1 -k key2 --key=key3 <plain
cp "$work/stdout" sealed
[ "$(wc -c <sealed)" = $((108 + 3 * 67 + 40000 + 3 * 16)) ] || fail "expected three slots, got $(wc -c <sealed) bytes"
for i in 1 2 3; do
  expect_exit 0 "$program" -q -d -k "key$i" <sealed
  same plain "$work/stdout" "opened with key $i"
done
expect_exit 3 "$program" -q -d -k key4 <sealed
expect_empty "$work/stdout"
expect_exit 3 "$program" -q -d --passphrase-file passphrase <sealed
expect_empty "$work/stdout"

expect_exit 0 "$program" -q -k key1 --passphrase-file passphrase -k key2 <plain
cp "$work/stdout" sealed
[ "$(wc -c <sealed)" = $((108 + 2 * 67 + 70 + 40000 + 3 * 16)) ] || fail "expected three slots, one for a passphrase"
for secret in '-k key1' '-k key2' '--passphrase-file passphrase' '-k key4 -k key2'; do
  # shellcheck disable=SC2086 # several words
  expect_exit 0 "$program" -q -d $secret <sealed
  same plain "$work/stdout" "opened with $secret"
done
for secret in '-k key3' '--passphrase-file other' '-k key3 -k key4'; do
  # shellcheck disable=SC2086
  expect_exit 3 "$program" -q -d $secret <sealed
  expect_empty "$work/stdout" "$secret"
done

expect_exit 0 "$program" -q "${keys[@]}" <plain
cp "$work/stdout" sealed
[ "$(wc -c <sealed)" = $((108 + 32 * 67 + 40000 + 3 * 16)) ] || fail "expected 32 slots"
for i in 1 16 32; do
  expect_exit 0 "$program" -q -d -k "key$i" <sealed
  same plain "$work/stdout" "32 keys, opened with key $i"
done
expect_exit 3 "$program" -q -d -k key33 <sealed
expect_exit 2 "$program" -q "${keys[@]}" -k key33 <plain
expect_exit 2 "$program" -q "${keys[@]}" --passphrase-file passphrase <plain
