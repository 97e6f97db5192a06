#!/usr/bin/env bash
# -r seals in the sealed format and cannot be combined with a passphrase; an identity opens the file. Other combinations
# are usage errors.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

umask 077
"$keygen" --x25519 -o identity >recipient
recipient=$(<recipient)
printf 'correct horse\n' >passphrase
make_input 40000 plain
seal() { "$program" "$@" <plain; }

expect_exit 2 seal -r "$recipient" -p
expect_error 'a passphrase cannot be combined with recipients' \
  'use one of the two; anyone can seal for a recipient, so the passphrase would not show who wrote the file'
expect_exit 2 seal -r "$recipient" --passphrase-file passphrase
expect_exit 2 seal -k "$key" -r "$recipient" --passphrase-file passphrase
expect_exit 2 seal -d -r "$recipient"
expect_error '--recipient cannot be used to decrypt' 'name the identity file with -k'
expect_exit 2 seal -d -R recipient
expect_error '--recipients-file cannot be used to decrypt' 'name the identity file with -k'
expect_exit 2 seal -d -k identity -r "$recipient"
expect_exit 2 seal -k identity
expect_error '--key: identity contains an identity, which can open files but not seal them' \
  'seal with -r for its recipient, which gpuaes-keygen -y prints'
expect_exit 2 seal -k identity -r "$recipient"
expect_exit 2 seal -r
for format in cobblestone raw openssl; do
  expect_exit 2 seal -f $format -k "$key" -r "$recipient"
  expect_error "the $format format does not accept a recipient" 'formats that accept it: sealed'
  expect_exit 2 seal -f $format -d -k identity
  expect_error "the $format format does not accept an identity" 'formats that accept it: sealed'
done

# The overhead of one slot and of 32. A list that others can read causes no warning.
expect_exit 0 seal -r "$recipient"
expect_empty "$work/stderr"
cp "$work/stdout" sealed
[ "$(wc -c <sealed)" = $((108 + 83 + 40000 + 3 * 16)) ] || fail "expected one slot, got $(wc -c <sealed) bytes"
for ((i = 0; i < 31; i++)); do cat recipient; done >list
chmod 644 list
for name in "-r @list" "-R list" "--recipients-file=list"; do
  # shellcheck disable=SC2086 # two words
  expect_exit 0 seal $name -r "$recipient"
  expect_empty "$work/stderr"
  [ "$(wc -c <"$work/stdout")" = $((108 + 32 * 83 + 40000 + 3 * 16)) ] || fail "$name: expected 32 slots"
done
expect_exit 0 seal -R recipient -R recipient -r @recipient
[ "$(wc -c <"$work/stdout")" = $((108 + 3 * 83 + 40000 + 3 * 16)) ] || fail "-R twice: expected three slots"
expect_exit 1 seal -R missing
expect_error 'the recipients file: cannot open missing: No such file or directory'
expect_exit 2 seal -r @list -r "$recipient" -r "$recipient"
expect_error 'the sealed format allows at most 32 keys, recipients and passphrases in total'
expect_exit 2 seal -r @list -r "$recipient" -k "$key"

# The list may come from a pipe, but not from the pipe that carries the input. The output must not be the list.
from_pipe() { seal -r @/dev/fd/5 5< <(cat recipient); }
expect_exit 0 from_pipe
from_input() { cat recipient plain | "$program" -r @/dev/stdin; }
expect_exit 2 from_input
only_list() { "$program" -r @/dev/stdin <recipient; }
expect_exit 0 only_list
expect_exit 2 seal -r @recipient -o recipient
[ "$(<recipient)" = "$recipient" ] || fail "expected the list to be unchanged"

# A warning if others can read the identity; an identity may also come from a pipe.
chmod 640 identity
expect_exit 0 "$program" -d -k identity -i sealed
same plain "$work/stdout"
expect_stderr 'warning: identity is readable by other users'
through_pipe() { "$program" -d -k /dev/fd/5 -i sealed 5< <(cat identity); }
expect_exit 0 through_pipe
same plain "$work/stdout"
expect_empty "$work/stderr"
