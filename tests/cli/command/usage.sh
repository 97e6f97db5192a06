#!/usr/bin/env bash
# Options that cannot be used with a command after --.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000 plain
gsealed <plain >sealed
hint='what follows -- is a command whose output is encrypted'
expect_exit 2 gsealed --
expect_error 'no command follows --' "$hint"
expect_exit 2 gsealed plain -- true
expect_error 'an input file cannot be used with a command' "$hint"
for option in --decrypt --test '--range 0:1' --salvage --info --rekey '--input plain'; do
  # shellcheck disable=SC2086 # two words
  expect_exit 2 gsealed $option -- touch started
  name=${option%% *}
  expect_error "$name cannot be used with a command" "$hint"
done
expect_exit 2 gsealed -o -- touch started
expect_exit 0 gsealed -e -o out -- cat plain
gsealed -d -i out | cmp - plain || fail 'expected the output of the command'
expect_files plain sealed out
