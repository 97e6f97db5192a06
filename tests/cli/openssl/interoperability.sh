#!/usr/bin/env bash
# -f openssl and `openssl enc -aes-...-ctr -pbkdf2` read each other's output, with three key lengths and various
# iteration counts and input lengths.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

umask 077
printf 'correct horse\nsecond line\n' >passphrase
ours() { "$program" -q --passphrase-file passphrase "$@"; }
theirs() { openssl enc "$@" -pbkdf2 -pass file:passphrase; }

try() { # SIZE OUR_OPTIONS THEIR_OPTIONS...
  local size=$1 options=$2
  shift 2
  make_input "$size" plain
  # shellcheck disable=SC2086 # several words
  expect_exit 0 ours -f openssl $options <plain
  cp "$work/stdout" sealed
  [ "$(wc -c <sealed)" = $((16 + size)) ] || fail "expected 16 bytes more than $size, got $(wc -c <sealed)"
  [ "$(head -c 8 sealed)" = Salted__ ] || fail "expected Salted__ at the start"
  theirs -d "$@" <sealed >opened || fail "$options: expected openssl to open it"
  same plain opened "$size bytes, opened by openssl $*"
  theirs "$@" <plain >sealed
  # shellcheck disable=SC2086
  expect_exit 0 ours -d -f openssl $options <sealed
  same plain "$work/stdout" "$size bytes, sealed by openssl $*"
}
for size in 0 1 15 16 17 255 16384 1000003; do try "$size" '' -aes-256-ctr; done
for size in 0 1 5000; do
  for bits in 128 192 256; do
    try "$size" "-c aes-$bits" "-aes-$bits-ctr"
    try "$size" "-c aes-$bits --iter 1" "-aes-$bits-ctr" -iter 1
    try "$size" "-c aes-$bits --iter 12345" "-aes-$bits-ctr" -iter 12345
  done
done
for lanes in $(lanes_here); do
  try 200003 "-l $lanes -b 16K" -aes-256-ctr
  try 200003 "-l $lanes -b 100" -aes-256-ctr
done

# A new salt each time.
ours -f openssl <plain >one
ours -f openssl <plain >other
! cmp -s <(head -c 16 one) <(head -c 16 other) || fail "expected different salts"

# A wrong passphrase or iteration count gives wrong plaintext, which cannot be detected.
printf 'battery staple' >wrong
expect_exit 0 "$program" -q -d -f openssl --passphrase-file wrong <one
! cmp -s plain "$work/stdout" || fail "expected wrong plaintext with a wrong passphrase"
expect_exit 0 ours -d -f openssl --iter 9999 <one
! cmp -s plain "$work/stdout" || fail "expected wrong plaintext with another iteration count"

# One warning that the format is not authenticated, unless -q is given.
for direction in -e -d; do
  expect_exit 0 "$program" "$direction" -f openssl --passphrase-file passphrase <one
  [ "$(grep -Eic '^gpuaes-stream: warning: .*authenticat' "$work/stderr" || true)" = 1 ] ||
    fail "$direction: expected one warning that it is not authenticated, got: $(<"$work/stderr")"
  [ "$(wc -l <"$work/stderr")" = 1 ] || fail "$direction: expected no other message, got: $(<"$work/stderr")"
done
expect_exit 0 ours -d -f openssl <one
expect_empty "$work/stderr"
