#!/usr/bin/env bash
# If a file is missing or empty, or is of the wrong kind, the error begins with the option that named it.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

umask 077
make_input 1000 plain
printf 'correct horse\n' >passphrase
: >empty
gsealed -i plain -o sealed
"$keygen" --x25519 -o identity >recipient

absent='No such file or directory'
for option in --key --passphrase-file; do
  expect_exit 1 "$program" "$option" absent -i plain
  expect_error "$option: cannot open absent: $absent"
done
for option in --new-key --new-passphrase-file; do
  expect_exit 1 "$program" --rekey -k "$key" "$option" absent -i sealed
  expect_error "$option: cannot open absent: $absent"
done
expect_exit 1 "$program" -r @absent -i plain
expect_error "the recipients file: cannot open absent: $absent"
for mode in --encrypt --decrypt --info "--rekey --new-key $work/key256"; do
  secret=(-k "$key")
  [ "$mode" != --info ] || secret=()
  # shellcheck disable=SC2086 # several words
  expect_exit 1 "$program" $mode "${secret[@]}" -i absent
  expect_error "--input: cannot open absent: $absent"
done
for option in --output --stats --trace; do
  expect_exit 1 gsealed -i plain "$option" absent/out
  expect_error "$option: cannot create a temporary file next to absent/out: $absent"
done

expect_exit 2 "$program" -k empty -i plain
expect_error '--key: empty is empty' 'a key is 16, 24 or 32 raw bytes, or 32, 48 or 64 hexadecimal digits'
expect_exit 2 "$program" --passphrase-file empty -i plain
expect_error '--passphrase-file: the passphrase from empty is empty'
expect_exit 2 "$program" -r @empty -i plain
expect_error 'the recipients file: empty contains no recipients' \
  'a recipient is the line that gpuaes-keygen -y prints for an identity'
expect_exit 4 gsealed -d -i empty
expect_error 'empty: the input is empty'

# An identity in place of the input. Encrypting one is not a mistake.
expect_exit 2 "$program" -d -i identity <sealed
expect_error 'identity contains an identity, not an encrypted file' \
  'name the identity file with -k, and the encrypted file with -i or without an option'
expect_exit 1 "$program" -d -i absent <sealed
expect_error '--input: cannot open absent: No such file or directory'
for file in plain recipient; do
  expect_exit 4 "$program" -d -i "$file" <sealed
  expect_no_stderr 'contains an identity'
done
cp identity ./-
expect_exit 4 "$program" -d <identity
expect_error 'the input contains an identity, not an encrypted file' 'name the identity file with -k'
expect_exit 0 gsealed -i identity -o sealed-identity
