#!/usr/bin/env bash
# -a is only for writing the sealed format.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

for mode in -d --test --salvage '--range 0:1'; do
  # shellcheck disable=SC2086 # two words
  expect_exit 2 gsealed $mode -a
  expect_error "--armor cannot be used to decrypt" "armored input is detected"
done
for options in "-f raw --iv $iv" "-f cobblestone"; do
  # shellcheck disable=SC2086 # several words
  expect_exit 2 gsealed $options --armor
  [[ $options =~ -f\ ([a-z]*) ]]
  expect_error "the ${BASH_REMATCH[1]} format does not support --armor" "formats that support it: sealed"
done
expect_exit 2 "$program" --info -a
expect_error "--info cannot be used with --armor" \
  "--info accepts only --input, --format, --decrypt, --json, --verbose and --quiet"

# If a format other than sealed is named, armor is not detected.
echo text >plain
expect_exit 0 gsealed -a -i plain
cp "$work/stdout" armored
expect_exit 3 gsealed -d -f cobblestone -i armored
expect_exit 0 gs -d -i armored
reference <armored >expected
same expected "$work/stdout" "raw format"
expect_exit 2 gsealed -d --iv "$iv" -i armored
expect_error '--iv requires -f raw'
