#!/usr/bin/env bash
# If stderr is not a terminal, -P prints a few whole lines and a last one, and nothing with -q. A wrong --size is not
# an error.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

amount='[ .0-9]{4}[KMG]iB'
number=' *[0-9.]+([KMG]i)? ?B'

make_input 3000000 plain
reference <plain >expected

# One line for a short run, without characters that move the cursor.
expect_exit 0 "$program" -P -k "$key" -l cpu:2 -i plain
[ "$(wc -l <"$work/stderr")" = 1 ] || fail "expected one line, got: $(<"$work/stderr")"
grep -Eqx "gpuaes-stream: 2.86MiB 0:00:[0-9]{2} \[$amount/s\] 100%  cpu:2" "$work/stderr" ||
  fail "expected a last line, got: $(<"$work/stderr")"

# shellcheck disable=SC2002 # the input must be a pipe
pipe() { cat plain | "$program" -k "$key" "$@"; }
expect_exit 0 pipe -P -l cpu:2
grep -Eqx "gpuaes-stream: 2.86MiB 0:00:[0-9]{2} \[$amount/s\]  cpu:2" "$work/stderr" ||
  fail "expected no percentage without a known size, got: $(<"$work/stderr")"
for size in 3000000 1M 6M 1T 0 1; do
  expect_exit 0 pipe -P --size "$size"
  case $size in
    3000000 | 1M | 1) percent=100 ;;
    6M) percent=47 ;;
    1T) percent=0 ;;
    0) expect_no_stderr '%'; continue ;;
  esac
  expect_stderr " $percent%  cpu"
  expect_no_stderr 'ETA'
done
for bad in '' x -1 1X 1KK 1.5M 0x10 99999999999999999999 99999999999T; do expect_exit 2 pipe -P --size="$bad"; done

# An empty input.
expect_exit 0 "$program" -P -k "$key"
grep -Eqx "gpuaes-stream: $number 0:00:00 \[$number/s\]  cpu:[0-9]+" "$work/stderr" ||
  fail "expected a last line, got: $(<"$work/stderr")"

# The output is the same, and -q prints nothing.
expect_exit 0 gs -P --size 5 -i plain -o out
expect_empty "$work/stderr"
same expected out

# When a file is decrypted, the header counts as input.
expect_exit 0 gsealed -i plain -o sealed
expect_exit 0 "$program" -d -P -k "$key" -i sealed -o back
same plain back
expect_stderr '2\.86MiB .* 100%  cpu'

# Longer runs print a line every ten seconds.
if [ -n "${GPUAES_SLOW_TESTS:-}" ]; then
  slow() { (sleep 11.5; cat plain) | "$program" -P -k "$key"; }
  expect_exit 0 slow
  [ "$(wc -l <"$work/stderr")" = 2 ] || fail "expected two lines, got: $(<"$work/stderr")"
fi
