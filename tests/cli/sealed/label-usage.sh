#!/usr/bin/env bash
# --label takes 1 to 255 bytes of UTF-8, with the sealed format only. Anything else fails with status 2, and no file is
# touched.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

umask 077
make_input 1000 plain
printf 'correct horse\n' >passphrase
gsealed --label label -i plain -o sealed
cp sealed before

refused() { # REGEX LABEL: the label is refused in every mode, from standard input and from a file
  local mode
  for mode in -e -d --test '--range 0:1' --salvage "--rekey --new-key $key"; do
    # shellcheck disable=SC2086 # several words
    expect_exit 2 gsealed $mode --label "$2" <sealed
    expect_stderr "$1"
    # shellcheck disable=SC2086
    expect_exit 2 gsealed $mode --label "$2" -i sealed
    same before sealed "$mode"
  done
  expect_exit 2 gsealed --label "$2" -i plain -o out
  expect_exit 2 gsealed -d --label "$2" -i sealed -o out
}
long=$(printf 'x%.0s' {1..255})
refused 'label has 0 bytes; it must have 1 to 255' ''
refused 'label has 256 bytes' "${long}x"
refused 'label has 257 bytes' "${long}$(printf '\303\251')"

# Not UTF-8: a continuation byte alone, overlong forms, surrogates, more than U+10FFFF, truncated characters, Latin-1.
for octal in '\200' 'a\277' '\300\257' '\301\201' '\340\237\277' '\360\217\277\277' '\355\240\200' '\355\277\277' \
  '\364\220\200\200' '\365\200\200\200' '\377' '\303' 'caf\303' '\342\202' '\360\237\230' '\303(' 'caf\351'; do
  # shellcheck disable=SC2059 # the escapes are the label
  refused '--label is not valid UTF-8' "$(printf "$octal")"
done

for direction in -e -d; do
  expect_exit 2 gs "$direction" --label label <plain
  expect_stderr 'raw format does not accept --label'
  expect_exit 2 gsealed "$direction" -f cobblestone --label label <plain
  expect_stderr 'cobblestone format does not accept --label'
  expect_exit 2 "$program" "$direction" -f openssl --passphrase-file passphrase --label label <plain
  expect_stderr 'openssl format does not accept --label'
  expect_exit 2 gsealed "$direction" --label one --label two <sealed
  expect_exit 2 gsealed "$direction" --label <sealed
  expect_exit 2 gsealed "$direction" --label= <sealed
done
expect_exit 2 "$program" --info --label label -i sealed
expect_stderr 'info cannot be used with --label'

# 255 bytes are a valid label, and so is text that looks like an option.
for label in "$long" --label=-d; do
  gsealed "--label=${label#--label=}" -i plain -o labeled
  expect_exit 0 gsealed -d "--label=${label#--label=}" -i labeled
  same plain "$work/stdout"
  rm labeled
done
expect_files plain passphrase sealed before
