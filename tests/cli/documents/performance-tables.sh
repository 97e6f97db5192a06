#!/usr/bin/env bash
# The tables of PERFORMANCE.md and README.md match the run in man/figures, and the pictures they show exist.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

command -v python3 >/dev/null || skip "no python3 here"
python3 "$top/scripts/plot" --check "$top/man/figures" >"$work/stdout" 2>"$work/stderr" ||
  fail "run scripts/plot --tables man/figures: $(<"$work/stdout") $(<"$work/stderr")"
for document in PERFORMANCE.md README.md; do
  grep -q '<!-- begin: ' "$top/$document" || fail "$document has no generated table"
  while read -r picture; do
    [ -f "$top/$picture" ] || fail "$document shows $picture, which is missing"
  done < <(sed -nE 's/^!\[.*\]\((.*)\)$/\1/p' "$top/$document")
done
