#!/usr/bin/env bash
# --list-lanes lists the CPU first, and every lane in the list works.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

expect_exit 0 "$program" --list-lanes
grep -Eq '^cpu' "$work/stdout" || fail "expected a line that begins with cpu, got: $(<"$work/stdout")"
cp "$work/stdout" list
make_input 100000 plain
reference <plain >expected
for lane in cpu $(grep -Eo '^cuda:[0-9]+' list || true); do
  expect_exit 0 gs -l "$lane" <plain
  same expected "$work/stdout" "-l $lane"
done
