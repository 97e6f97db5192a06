#!/usr/bin/env bash
# --trace never writes over the input, the output or the --stats file. If its file cannot be opened, the program
# fails before it writes anything; if writing the trace fails later, it fails at the end, when the output is complete.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000000 plain
reference <plain >expected
for out in missing/trace plain/trace .; do
  expect_exit 1 gs -i plain --trace "$out"
  expect_empty "$work/stdout"
  expect_exit 1 gs -i plain -o out --trace "$out"
done
expect_files expected plain

refuse() { # STATUS OPTION...
  expect_exit "$@"
  expect_stderr '--trace|are the same file'
  [ "$(<old)" = old ] || fail "expected the old content, after $*"
  expect_files expected input old plain
  same plain input "input, after $*"
}
cp plain input
printf 'old' >old
refuse 2 gs -i input -o new --trace new
refuse 2 gs -i input -o new --trace ./new
refuse 2 gs -i input -o old --trace old
expect_error '--trace and --output are the same file'
refuse 2 gs -i input -o /dev/null --stats old --trace old
expect_error '--trace and --stats are the same file'
refuse 2 gs -i input -o /dev/null --stats new --trace ./new
refuse 2 gs -i input -o new --trace input
rm input old

# The output is standard output.
for name in both ./both; do
  code=0
  gs --trace "$name" <plain >both 2>"$work/stderr" || code=$?
  [ "$code" = 2 ] || fail "expected exit status 2 for --trace $name >both, got $code"
  expect_empty both
done
rm both

for option in --trace --stats; do
  piped() { gs -i plain "$option" /dev/stdout | cat >through; }
  expect_exit 2 piped
  expect_empty through
done
rm through

expect_exit 0 gs -i plain -o out --trace /dev/stdout --stats stats
same expected out
grep -q traceEvents "$work/stdout" || fail "expected the trace on standard output"
grep -q '"bytes_in": 1000000' stats || fail "expected the statistics in their file"
rm out stats

# A full device, with a large and a small trace. A reader of the trace that goes away causes no SIGPIPE.
for size in 16 1M; do
  expect_exit 1 gs -i plain -b "$size" -o out --trace /dev/full --stats stats
  expect_stderr 'error: cannot write /dev/full after byte'
  expect_stderr 'hint: the output is complete; only the trace is not$'
  same expected out
  grep -q '"bytes_in": 1000000' stats || fail "expected the statistics when the trace fails"
done
mkfifo fifo
(exec 3<fifo) &
expect_exit 1 gs -i plain -b 16 -o out --trace fifo
wait
same expected out
expect_files expected fifo out plain stats
