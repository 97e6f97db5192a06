#!/usr/bin/env bash
# -f openssl takes a passphrase rather than a key, and an iteration count above 0. An input without its header fails
# with status 4.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

umask 077
make_input 1000 plain
printf 'correct horse\n' >passphrase
: >empty
ours() { "$program" -q -f openssl --passphrase-file passphrase "$@"; }
ours -e <plain >salted
declare -A missing=(
  [-e]='name a key file with -k (gpuaes-keygen makes one) or a recipient with -r, or use -p to enter a passphrase'
  [-d]='name a key or identity file with -k, or use -p to enter a passphrase'
)
for direction in -e -d; do
  for bad in '' 0 00 -1 +1 1.5 x 1x 0x10 ' 1' '1 ' 1K 99999999999999999999 18446744073709551617 4294967297; do
    expect_exit 2 ours "$direction" --iter "$bad" <salted
    case $bad in
      0 | 00) expect_error '--iter must be from 1 to 2147483647, not 0' ;;
      *) expect_error "invalid --iter '$bad'" 'use a number from 1 to 2147483647' ;;
    esac
  done
  expect_exit 2 ours "$direction" --iter
  expect_exit 2 ours "$direction" --iter 1 --iter 1 <salted
  expect_exit 2 ours "$direction" -k "$key" <salted
  expect_error 'the openssl format uses a passphrase, not a key file' \
    'use -p to enter a passphrase, or -f raw with a key and --iv'
  expect_exit 2 ours "$direction" --iv "$iv" <salted
  expect_exit 2 ours "$direction" --context 00 <salted
  expect_exit 2 "$program" "$direction" -f openssl -k "$key" <salted
  expect_exit 2 "$program" "$direction" -f openssl <salted
  expect_error 'no key or passphrase was given' "${missing[$direction]}"
  expect_exit 2 "$program" "$direction" -f openssl --passphrase-file empty <salted
  expect_exit 2 "$program" "$direction" -f raw --iv "$iv" -k "$key" --iter 10000 <salted
  expect_exit 2 "$program" "$direction" -f sealed -k "$key" --iter 10000 <salted
  expect_exit 2 "$program" "$direction" -f cobblestone -k "$key" --iter 10000 <salted
done
expect_exit 2 "$program" -k "$key" --iter 10000 <plain

for length in 0 1 7 8 9 15; do
  head -c "$length" salted >short
  expect_exit 4 ours -d <short
  expect_empty "$work/stdout"
  expect_exit 4 ours -d -i short -o out
  if [ "$length" -ge 8 ]; then
    expect_exit 4 "$program" -q -d --passphrase-file passphrase <short
    expect_empty "$work/stdout"
  fi
done
for text in 'salted__12345678 some text' 'Salted_ 12345678 some text' 'some text that is not encrypted at all'; do
  printf '%s' "$text" >other
  expect_exit 4 ours -d <other
  expect_error "the input is not in the openssl format: it does not begin with 'Salted__'"
  expect_empty "$work/stdout"
done
expect_files plain passphrase empty salted short other
