#!/usr/bin/env bash
# -P where stderr is no terminal: whole lines, few of them, with a last one; nothing with -q. A size that turns out wrong
# is no error.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

amount='[ .0-9]{4}[KMG]iB'
number=' *[0-9.]+([KMG]i)? ?B'

make_input 3000000 plain
reference <plain >expected

# One line for a short run, with nothing in it that moves a cursor.
expect_exit 0 "$program" -P -k "$key" -l cpu:2 -i plain
[ "$(wc -l <"$work/stderr")" = 1 ] || fail "expected one line, got: $(<"$work/stderr")"
grep -Eqx "gpuaes-stream: 2.86MiB 0:00:[0-9]{2} \[$amount/s\] 100%  cpu:2" "$work/stderr" ||
  fail "expected a last line, got: $(<"$work/stderr")"

# shellcheck disable=SC2002 # a pipe is wanted
pipe() { cat plain | "$program" -k "$key" "$@"; }
expect_exit 0 pipe -P -l cpu:2
grep -Eqx "gpuaes-stream: 2.86MiB 0:00:[0-9]{2} \[$amount/s\]  cpu:2" "$work/stderr" ||
  fail "expected no percentage where the size is not known, got: $(<"$work/stderr")"
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

# Of an empty input.
expect_exit 0 "$program" -P -k "$key"
grep -Eqx "gpuaes-stream: $number 0:00:00 \[$number/s\]  cpu:[0-9]+" "$work/stderr" ||
  fail "expected a last line, got: $(<"$work/stderr")"

# The data are the same, and -q says nothing.
expect_exit 0 gs -P --size 5 -i plain -o out
expect_empty "$work/stderr"
same expected out

# A file that is decrypted: what its header has is input too.
expect_exit 0 gsealed -i plain -o sealed
expect_exit 0 "$program" -d -P -k "$key" -i sealed -o back
same plain back
expect_stderr '2\.86MiB .* 100%  cpu'

# Every now and then a line, in longer runs.
if [ -n "${GPUAES_SLOW_TESTS:-}" ]; then
  slow() { (sleep 11.5; cat plain) | "$program" -P -k "$key"; }
  expect_exit 0 slow
  [ "$(wc -l <"$work/stderr")" = 2 ] || fail "expected two lines, got: $(<"$work/stderr")"
fi
