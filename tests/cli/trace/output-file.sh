#!/usr/bin/env bash
# A trace goes where figures go: never over the input, the output or the figures, and one that cannot be opened is an
# error before anything else. One that fails later is an error in the end, when the output is whole.
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
  expect_stderr '--trace|cannot be both input and output'
  [ "$(<old)" = old ] || fail "expected the old content, after $*"
  expect_files expected input old plain
  same plain input "input, after $*"
}
cp plain input
printf 'old' >old
refuse 2 gs -i input -o new --trace new
refuse 2 gs -i input -o new --trace ./new
refuse 2 gs -i input -o old --trace old
refuse 2 gs -i input -o /dev/null --stats old --trace old
refuse 2 gs -i input -o /dev/null --stats new --trace ./new
refuse 1 gs -i input -o new --trace input
rm input old

# The ciphertext on standard output.
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
grep -q '"bytes_in": 1000000' stats || fail "expected the figures in their file"
rm out stats

# A device that is full, at once and in the end; a reader that goes away is no SIGPIPE.
for size in 16 1M; do
  expect_exit 1 gs -i plain -b "$size" -o out --trace /dev/full --stats stats
  expect_stderr '/dev/full'
  same expected out
  grep -q '"bytes_in": 1000000' stats || fail "expected the figures where the trace fails"
done
mkfifo fifo
(exec 3<fifo) &
expect_exit 1 gs -i plain -b 16 -o out --trace fifo
wait
same expected out
expect_files expected fifo out plain stats
