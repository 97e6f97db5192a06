#!/usr/bin/env bash
# gpuaes-keygen --x25519 creates an identity that only its owner can read, and prints its recipient; -y prints the
# recipient again.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

try() { # STATUS OPTION...
  local want=$1 got=0
  shift
  "$keygen" "$@" >"$work/stdout" 2>"$work/stderr" || got=$?
  [ "$got" = "$want" ] || fail "gpuaes-keygen $*: expected exit status $want, got $got (stderr: $(<"$work/stderr"))"
  [ "$(grep -c '^gpuaes-keygen: error: ' "$work/stderr" || true)" = $((want != 0)) ] ||
    fail "gpuaes-keygen $*: expected an error message only with an error, got: $(<"$work/stderr")"
  if [ "$want" != 0 ]; then expect_empty "$work/stdout"; fi
  if grep -iq 'SECRET-KEY-1[a-z0-9]' "$work/stderr"; then fail "expected no identity on standard error: $(<"$work/stderr")"; fi
}
is_recipient() { # FILE
  [[ "$(<"$1")" =~ ^gpuaes1[02-9ac-hj-np-z]{58}$ ]] || fail "expected a recipient, got $(<"$1")"
  [ "$(wc -c <"$1")" = 66 ] || fail "expected a recipient and a newline, got $(wc -c <"$1") bytes"
}
is_identity() { # FILE RECIPIENT
  [[ "$(head -n 1 "$1")" =~ ^GPUAES-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}$ ]] || fail "expected an identity on the first line"
  [ "$(sed 1d "$1")" = "# recipient: $2" ] || fail "expected the recipient as a comment, got $(sed 1d "$1")"
}

for mask in 000 022 077; do
  (umask "$mask" && try 0 --x25519 -o "identity-$mask") || exit 1
  expect_empty "$work/stderr"
  is_recipient "$work/stdout"
  is_identity "identity-$mask" "$(<"$work/stdout")"
  [ "$(stat -c %a "identity-$mask")" = 600 ] || fail "umask $mask: expected mode 600, got $(stat -c %a "identity-$mask")"
  cat "$work/stdout" >>"$work/all"
  cp "$work/stdout" expected
  try 0 -y "identity-$mask"
  expect_empty "$work/stderr"
  same expected "$work/stdout" "-y"
done
try 0 --x25519
is_recipient "$work/stderr"
is_identity "$work/stdout" "$(<"$work/stderr")"
cat "$work/stderr" >>"$work/all"
[ "$(sort -u "$work/all" | wc -l)" = 4 ] || fail "expected four different recipients"
(umask 077 && cp "$work/stdout" identity)
try 0 --recipient=identity
same <(tail -n 1 "$work/all") "$work/stdout" "--recipient"
try 0 -y /dev/stdin <identity
same <(tail -n 1 "$work/all") "$work/stdout" "-y /dev/stdin"

# Never replaces a file, and prints no recipient unless the identity was written.
cp identity before
for name in identity . /dev/null missing/identity; do
  try 1 --x25519 -o "$name"
done
same before identity
full() { "$keygen" --x25519 >/dev/full 2>"$work/stderr"; }
got=0
full || got=$?
[ "$got" = 1 ] || fail "expected exit status 1, got $got"
! grep -q gpuaes1 "$work/stderr" || fail "expected no recipient"
got=0
"$keygen" --x25519 -o unknown >/dev/full 2>"$work/stderr" || got=$?
[ "$got" = 1 ] || fail "expected exit status 1, got $got"
[ ! -e unknown ] || fail "expected no identity, because its recipient could not be printed"

try 2 --x25519 -y identity
try 2 -y identity -o other
try 2 -y
try 2 --x25519 stray
try 2 -y "$(head -n 1 identity)"
try 1 -y missing
try 2 -y "$key"
expect_error "line 1 of $key is not an identity" \
  'an identity is the first line of the file that gpuaes-keygen --x25519 or --post-quantum writes'
try 2 -y /dev/zero
try 2 -y "$(tail -n 1 "$work/all")"
expect_error 'a recipient was given instead of a file name' \
  'use gpuaes-stream -r for recipients; keys and identities are read from files'
tail -n 1 "$work/all" >recipient
try 2 -y recipient
expect_error 'line 1 of recipient is a recipient, not an identity' 'put recipients in a file of their own'
expect_no_stderr warning
(umask 077 && printf '# nothing\n' >comment)
try 2 -y comment
expect_error 'comment contains no identity' \
  'an identity is the first line of the file that gpuaes-keygen --x25519 or --post-quantum writes'

# Several identities, with comments before, between and after them.
(umask 077 && { echo '# all of them' && cat identity-000 && echo && cat identity-022 identity; } >several)
try 0 -y several
same <(sed -n '1,2p;4p' "$work/all") "$work/stdout" "several identities"
(umask 077 && { cat several && head -c 70 identity; } >incomplete)
try 2 -y incomplete
head -c 70 identity >shortened
try 2 -y shortened
chmod 644 identity
try 0 -y identity
grep -q '^gpuaes-keygen: warning: identity is readable by other users' "$work/stderr" || fail "expected a warning"
