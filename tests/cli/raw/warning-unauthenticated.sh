#!/usr/bin/env bash
# With the raw format, the program warns once that it is not authenticated, unless -q is given.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000000 plain
for direction in -e -d; do
  for size in 4K 1M; do
    expect_exit 0 "$program" "$direction" -f raw --iv "$iv" -k "$key" -b "$size" <plain
    lines=$(grep -Eic '^gpuaes-stream: warning: .*authenticat' "$work/stderr" || true)
    [ "$lines" = 1 ] || fail "expected one warning that raw is unauthenticated, got: $(<"$work/stderr")"
    [ "$(wc -l <"$work/stderr")" = 1 ] || fail "expected only the warning, got: $(<"$work/stderr")"
  done
done
expect_exit 0 gs <plain
expect_empty "$work/stderr"
expect_exit 1 gs -i missing
expect_no_stderr warning
