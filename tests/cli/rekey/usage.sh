#!/usr/bin/env bash
# --rekey needs an old and a new secret, and accepts no options for encryption. The options for new secrets are valid
# only with --rekey.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

umask 077
"$keygen" --x25519 -o identity >recipient
recipient=$(<recipient)
"$keygen" -o new
printf 'correct horse\n' >words
make_input 40000 plain
gsealed -e <plain >sealed
cp sealed before

refused() {
  expect_exit 2 "$program" "$@"
  same before sealed "$*"
}
rekey() { refused --rekey -i sealed "$@"; }

rekey -k "$key"
expect_error '--rekey requires a new key, recipient or passphrase' 'use --new-key FILE, --recipient RECIPIENT or --new-passphrase'
rekey --new-key new
expect_error 'sealed: the input was sealed with a key file, and none was given' 'name the key file with -k'
rekey -r "$recipient"
rekey --new-passphrase-file words -r "$recipient"
rekey -k "$key" --new-passphrase-file words -r "$recipient"
expect_stderr 'error: a passphrase cannot be combined with recipients$'
rekey -k "$key" --new-passphrase --new-passphrase-file words
rekey -k "$key" --new-passphrase -r "$recipient"
rekey -k "$key" -p --passphrase-file words --new-key new
for option in -e -d '-c aes-256' '--iv 00' '--context 00' '--iter 7' '-l cpu' '--kernel ttable' '-b 1M' '--stats s' \
  '--trace t' '-f raw' '-f openssl' '-f cobblestone' '-f nonsense'; do
  # shellcheck disable=SC2086 # several words
  rekey -k "$key" --new-key new $option
done
for option in '-c aes-256' --json --test --salvage '--range 0:1'; do
  # shellcheck disable=SC2086 # several words
  rekey -k "$key" --new-key new $option
  expect_stderr 'error: --rekey cannot be used with --'
done
rekey -k "$key" --new-key new -f raw
expect_error '--rekey works only with the sealed format'
rekey -k "$key" --new-key identity
expect_stderr 'hint: seal with -r for its recipient, which gpuaes-keygen -y prints$'
rekey -k "$key" --new-key recipient
rekey -k "$key" -r @identity
rekey -k "$key" -r "${recipient:0:40}"
rekey -k "$key" --new-key "$work/key128"
expect_stderr '32 bytes'
rekey -k "$work/key192" --new-key new
rekey -k "$key" --new-key "$(<new)"
expect_no_stderr "$(<new)"
rekey -k "$key" --new-key "$(head -n 1 identity)"
expect_no_stderr 'SECRET-KEY-1[A-Z0-9]'
: >empty
rekey -k "$key" --new-passphrase-file empty
rekey -k "$key" --new-key new -o sealed
expect_error 'sealed and --output are the same file' 'omit --output to replace the file, or write to another file'
many=()
for ((i = 0; i < 32; i++)); do many+=(--new-key new); done
rekey -k "$key" "${many[@]}" -r "$recipient"
expect_stderr 'at most 32 keys, recipients and passphrases in total$'
for option in '--new-key new' --new-passphrase '--new-passphrase-file words'; do
  # shellcheck disable=SC2086
  for direction in '' -e -d; do refused $direction -k "$key" $option -i sealed; done
  expect_stderr 'requires --rekey'
done
rekey -k "$key" --new-key new stray

# Unreadable secrets, outputs in use, missing files.
for name in missing .; do
  expect_exit 1 "$program" --rekey -k "$key" --new-key $name -i sealed
  expect_exit 1 "$program" --rekey -k "$key" --new-key new -i $name -o out
  expect_exit 1 "$program" --rekey -k "$key" --new-passphrase-file $name -i sealed
done
expect_exit 1 "$program" --rekey -k "$key" --new-key new -i missing
expect_exit 2 "$program" --rekey -k "$key" --new-key new -i sealed -o sealed
expect_exit 2 "$program" --rekey -k "$key" --new-key new -i sealed -o new
same before sealed
[ "$(wc -c <new)" = 65 ] || fail "expected the key file to be unchanged"

# A file that is not regular, or is also standard output, is not replaced.
mkfifo fifo
for name in fifo /dev/null /dev/zero; do
  expect_exit 2 "$program" --rekey -k "$key" --new-key new -i $name
  expect_error "$name is not a regular file and cannot be replaced" 'name another file with -o'
done
expect_exit 1 "$program" --rekey -k "$key" --new-key new -i .
expect_error '--input: . does not contain a sealed file in parts'
# shellcheck disable=SC2094 # the test reads and writes one file
onto_itself() { "$program" --rekey -k "$key" --new-key new -i sealed >>sealed; }
expect_exit 2 onto_itself
expect_error 'sealed is also standard output or standard error and cannot be replaced' 'name another file with -o'
same before sealed
from_input() { cat new sealed | "$program" --rekey -k "$key" --new-key /dev/stdin; }
expect_exit 2 from_input
expect_files before empty fifo identity new plain recipient sealed words

# The maximum number of slots; -q, -v and -f sealed.
expect_exit 0 "$program" --rekey -f sealed -v -k "$key" "${many[@]}" -i sealed
expect_exit 0 "$program" -q -d -k new -i sealed
same plain "$work/stdout"
# Old passphrase, new passphrase and input may come from three pipes, but not from a single one.
gsealed --passphrase-file words <plain >with-words
all_in_one() { { cat words; echo battery staple; cat with-words; } |
  "$program" --rekey --passphrase-file /dev/stdin --new-passphrase-file /dev/stdin; }
expect_exit 2 all_in_one
three_pipes() { "$program" --rekey --passphrase-file <(cat words) --new-passphrase-file <(echo battery staple) \
  < <(cat with-words); }
expect_exit 0 three_pipes
cp "$work/stdout" rekeyed
echo battery staple >words
expect_exit 0 "$program" -d --passphrase-file words -i rekeyed
same plain "$work/stdout"
