#!/usr/bin/env bash
# Short options, with their value separate or attached, and long options have the same meaning.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 100000 plain
reference <plain >expected
expect_exit 0 "$program" --encrypt --key "$key" --format raw --cipher aes-256 --iv "$iv" --input plain --output out \
  --lanes cpu:2 --chunk-size 4K --stats stats --trace trace --progress --size 100000 --force
same expected out
expect_exit 0 "$program" --decrypt --key="$key" --format=raw --cipher=aes-256 --iv="$iv" --input=out --output=back \
  --lanes=cpu:2 --chunk-size=4K --stats=stats --trace=trace
same plain back
expect_exit 0 "$program" -qdk"$key" -fraw -caes-256 --iv "$iv" -iout -oagain -lcpu:2 -b4K
same plain again
expect_exit 0 gs -e -i plain
same expected "$work/stdout" "-e"
