#!/usr/bin/env bash
# An argument that is not an option is the input file, with every mode, before and after options. A flag may be repeated.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 100000 plain
reference <plain >expected
expect_exit 0 gs plain
same expected "$work/stdout"
expect_exit 0 "$program" plain -e -e -q -q -P -f raw --iv "$iv" -o out -k "$key"
same expected out
from_stdin() { gs - <plain; }
expect_exit 0 from_stdin
same expected "$work/stdout" "-"
cp plain ./-
expect_exit 0 gs ./-
same expected "$work/stdout" "./-"
rm ./- out

gsealed plain >sealed
expect_exit 0 gsealed -d sealed
same plain "$work/stdout" "-d"
expect_exit 0 gsealed sealed -dd -o back
same plain back
expect_exit 0 gsealed --range 10:20 sealed
[ "$(wc -c <"$work/stdout")" = 20 ] || fail "--range: expected 20 bytes"
expect_exit 0 gsealed --salvage sealed
same plain "$work/stdout" "--salvage"
expect_exit 0 gsealed -t sealed
expect_empty "$work/stdout"
expect_exit 0 "$program" --info sealed
expect_exit 0 gsealed --rekey --new-key "$key" sealed
expect_empty "$work/stdout" "--rekey in place"
expect_exit 0 gsealed -d sealed
same plain "$work/stdout" "after --rekey"

# Errors name the file, as with -i.
expect_exit 4 gsealed -d plain
expect_stderr 'error: plain: the input is '
expect_exit 1 gsealed missing
expect_error 'cannot open missing: No such file or directory'

for option in "-i plain" "-i -" "--input=plain"; do
  # shellcheck disable=SC2086 # two words
  expect_exit 2 gs $option plain
  expect_error '--input cannot be used together with another input file' \
    'name the input only once, and a key or identity file with -k'
done
for mode in -e -d "--range 0:1" --salvage "--rekey --new-key $key"; do
  # shellcheck disable=SC2086 # two words
  expect_exit 2 gsealed $mode sealed sealed
  expect_error 'more than one input file was given' \
    'use -o for the output file; only --test and --info accept more than one input file'
done
expect_files plain expected sealed back
