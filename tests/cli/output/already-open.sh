#!/usr/bin/env bash
# A file that is already standard output or standard error is not replaced, so what other programs write there is kept.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 100000 plain
reference <plain >expected

framed() { # a header and a trailer around the output on /dev/stdout
  echo header
  "$program" -q -f raw --iv "$iv" -k "$key" -i plain -o /dev/stdout || return
  echo trailer
}
framed >got || fail "expected exit status 0 with -o /dev/stdout"
cat <(echo header) expected <(echo trailer) >wanted
same wanted got

logged() {
  echo before >&2
  "$program" -q -f raw --iv "$iv" -k "$key" -i plain -o out --stats /dev/stderr || return
  echo after >&2
}
logged 2>log || fail "expected exit status 0 with --stats /dev/stderr"
same expected out
[ "$(head -n 1 log)" = before ] || fail "expected the log's first line to be kept"
[ "$(tail -n 1 log)" = after ] || fail "expected the log's last line to be kept"
grep -q '"bytes_in": 100000' log || fail "expected the figures in the log"

# Statistics are not written into the ciphertext.
for name in both ./both; do
  code=0
  "$program" -q -f raw --iv "$iv" -k "$key" --stats "$name" <plain >both 2>stderr || code=$?
  [ "$code" = 2 ] || fail "expected exit status 2 for --stats $name >both, got $code"
  [ ! -s both ] || fail "expected nothing to be written"
done
