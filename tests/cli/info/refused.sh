#!/usr/bin/env bash
# --info fails like decryption for input that is not a stream, or that this version cannot read. Options that it cannot
# use are usage errors.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

info() { "$program" --info "$@"; }
make_input 1000 plain
gsealed -e <plain >sealed
change() { perl -pe 'BEGIN { undef $/ } substr($_, '"$1"', 1) = chr '"$2" sealed; }

# refused STATUS REGEX: --info refuses the file `bad`, as text and JSON, from a file and a pipe; so does decryption.
refused() {
  local options
  for options in '' --json; do
    # shellcheck disable=SC2086
    expect_exit "$1" info $options -i bad
    expect_stderr "$2"
    expect_empty "$work/stdout"
    # shellcheck disable=SC2086
    expect_exit "$1" info $options < <(cat bad)
    expect_empty "$work/stdout"
  done
  expect_exit "$1" gsealed -d -i bad
  expect_stderr "$2"
}
cp plain bad && refused 4 'not in a known format'
: >bad && refused 4 'empty'
change 14 50 >bad && refused 1 'the input uses a version of the sealed format other than 1'
change 16 9 >bad && refused 1 'the input uses cipher suite 09, which this version does not support'
change 17 0 >bad && refused 4 'corrupt at byte 17'
change 20 128 >bad && refused 1 'the input has a slot of type 80 at byte 20, which this version does not support'
change 22 63 >bad && refused 4 'corrupt at byte'
for size in 14 15 16 17 20 100 174; do head -c "$size" sealed >bad && refused 4 'truncated|not in the sealed format'; done
printf 'Salted__1234567' >bad && expect_exit 4 info -i bad && expect_stderr 'truncated after byte 15'
head -c 55 plain >bad && expect_exit 4 info -f cobblestone -i bad && expect_stderr 'truncated after byte 55'
expect_exit 4 info -f sealed -i plain
expect_exit 4 info -f openssl -i plain
expect_exit 1 info -i missing
expect_exit 1 info -i .

for options in "-k $key" -p '--passphrase-file plain' -e '-o out' '-c aes-256' '--iv 00' '--context 00' '--iter 5' \
  '-l cpu' '-b 16K' '--stats out' '--trace out' --test '--kernel ttable'; do
  # shellcheck disable=SC2086
  expect_exit 2 info $options -i sealed
  expect_stderr 'error: --info cannot be used with --'
  expect_stderr 'hint: --info accepts only --input, --format, --decrypt, --json, --verbose and --quiet$'
done
expect_exit 2 "$program" --json -i sealed
expect_exit 2 gsealed -d --json -i sealed
expect_error '--json requires --info'
expect_exit 2 info -f nonsense -i sealed
expect_exit 0 info -d -q -i sealed
expect_files plain sealed bad
