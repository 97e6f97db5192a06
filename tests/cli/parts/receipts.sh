#!/usr/bin/env bash
# Receipts replace parts for join --ends. Any change in one is refused, and so are receipts of other jobs.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/parts.sh"

make_input 100000 plain
plan job --label text
plan other
for i in 0 1 2; do
  "$parts" seal --job job --part "$i/3" -i plain -o "part.$i" --receipt "receipt.$i"
  [ "$(wc -c <"receipt.$i")" = 104 ] || fail "expected a receipt of 104 bytes"
done
"$parts" seal --job other --part 0/1 -i plain -o stranger --receipt stranger.receipt

check() { # ARGUMENT...
  "$parts" join --job job --ends ends --receipts "$@" || fail "join $*"
  cat ends.head part.0 part.1 part.2 ends.index | gsealed -d --label text | cmp - plain || fail "$*: expected the plaintext"
  rm ends.head ends.index
}
check receipt.2 receipt.0 receipt.1
check --count 3 receipt.2 receipt.0 receipt.1
cat receipt.1 receipt.0 >two
check two receipt.2
cat receipt.2 two >all
check all
check <(cat all)

refused() { # error, ARGUMENT...
  local error=$1
  shift
  expect_exit 4 "$parts" join --job job --ends ends --receipts "$@"
  expect_error "$error"
  if [ -e ends.head ] || [ -e ends.index ]; then fail "expected no output"; fi
}
refused 'part 1 is missing; 2 of 3 parts were given' receipt.0 receipt.2
refused 'part 1 was given twice, as two and receipt.1' two receipt.1 receipt.2
bad='bad is not a receipt for this job file, or is damaged'
for at in 0 3 4 7 8 15 16 39 40 71 72 103; do
  cp receipt.1 bad
  flip bad "$at"
  refused "$bad" receipt.0 bad receipt.2
done
cp stranger.receipt bad
refused "$bad" bad
head -c 103 receipt.1 >bad
refused "$bad" bad
{ cat receipt.1; printf x; } >bad
refused "$bad" bad
: >bad
refused "$bad" bad
refused "part.1 is not a receipt for this job file, or is damaged" part.1
# A receipt of another attempt makes an index that refuses the part.
"$parts" seal --job job --part 1/3 -i plain -o again --receipt again.receipt
"$parts" join --job job --ends ends --receipts receipt.0 again.receipt receipt.2
expect_exit 4 "$parts" open --job job --ends ends --part 1 part.1 -o out
expect_error 'part 1: part.1 is not the part that the index lists; nothing was written'
