#!/usr/bin/env bash
# --completions refuses unknown shells, and needs no secrets or devices.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

for shell in tcsh BASH ''; do
  for file in "$program" "$keygen" "$bench"; do
    got=0
    "$file" --completions "$shell" >"$work/stdout" 2>"$work/stderr" || got=$?
    [ "$got" = 2 ] || fail "$file: expected exit status 2, got $got"
    expect_error "unknown shell '$shell'" 'the shells are bash, zsh, fish'
    expect_empty "$work/stdout"
  done
done
expect_exit 2 "$program" --completions
for shell in bash zsh fish; do
  expect_exit 0 "$program" -q --completions "$shell"
  grep -q -- '--completions' "$work/stdout" || fail "expected completions for $shell"
  expect_empty "$work/stderr"
done
full() { "$program" --completions bash >/dev/full; }
expect_exit 1 full
