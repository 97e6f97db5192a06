#!/usr/bin/env bash
# A chunk consists of whole segments. Chunk size and lanes do not affect the format: any other combination opens the
# file.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 300001 plain
sealed=0
for way in '-l cpu:1 -b 1' '-l cpu:1 -b 16K' '-l cpu:3 -b 16K' '-l cpu:2 -b 20000' '-l cpu:3 -b 48K' '-l cpu:1 -b 16M' ''; do
  # shellcheck disable=SC2086 # several words
  expect_exit 0 gsealed $way <plain
  mv "$work/stdout" "sealed$((sealed += 1))"
  [ "$(wc -c <"sealed$sealed")" = $((175 + 300001 + 16 * 19)) ] || fail "$way: unexpected size"
done
for way in '-l cpu:1 -b 1' '-l cpu:3 -b 30000' '-l cpu:3 -b 1M' ''; do
  for ((i = 1; i <= sealed; i++)); do
    # shellcheck disable=SC2086 # several words
    expect_exit 0 gsealed -d $way <"sealed$i"
    same plain "$work/stdout" "opened with '$way', file $i"
  done
done

# Two runs have only the 23 bytes before the first slot's salt in common.
expect_exit 0 gsealed <plain
equal=$( (cmp -l sealed1 "$work/stdout" || true) | awk '$1 <= 23' | wc -l)
[ "$equal" = 0 ] || fail "expected two files with the same beginning"
for part in 24,39 40,87 88,119 120,143 144,175 176,16575; do
  ! cmp -s <(tail -c "+${part%,*}" sealed1 | head -c $((${part#*,} - ${part%,*} + 1))) \
    <(tail -c "+${part%,*}" "$work/stdout" | head -c $((${part#*,} - ${part%,*} + 1))) ||
    fail "expected bytes $part of two files to differ"
done
