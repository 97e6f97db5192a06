#!/usr/bin/env bash
# Character devices work as input: /dev/zero, which has no end and is seekable, and /dev/null, which is empty.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

head -c 3000000 /dev/zero | reference >expected
zeros() { env --default-signal=PIPE "$program" -f raw --iv "$iv" -q -k "$key" "$@" | head -c 3000000; }
set +o pipefail
expect_exit 0 zeros -i /dev/zero
same expected "$work/stdout" "-i /dev/zero"
expect_exit 0 zeros -b 4K </dev/zero
same expected "$work/stdout" "</dev/zero"

for options in "" "-d" "-b 16" "-l cpu:3"; do
  # shellcheck disable=SC2086 # no word or two
  expect_exit 0 gs $options </dev/null
  expect_empty "$work/stdout"
done
expect_exit 0 gs -i /dev/null -o out
expect_empty out "-i /dev/null -o out"
