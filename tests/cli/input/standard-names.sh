#!/usr/bin/env bash
# "-" means standard input or output for the options that read data or secrets or write the output; ./- is a file of
# that name. Messages name the stream.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 100000 plain
umask 077
echo 'correct horse' >words
"$keygen" --x25519 -o identity >recipient
"$keygen" -o new

expect_exit 0 gsealed -i - -o - <plain
cp "$work/stdout" sealed
for options in '-i - -o -' '-i- -o-' '--input=- --output=-'; do
  # shellcheck disable=SC2086 # several words
  expect_exit 0 gsealed -d $options <sealed
  same plain "$work/stdout" "$options"
done
expect_exit 0 gsealed --test -i - <sealed
expect_exit 0 gsealed --range 5:10 -i - <sealed
expect_exit 0 "$program" --info -i - <sealed
grep -q '^size  *100' "$work/stdout" || fail "expected the size of standard input, got: $(<"$work/stdout")"
expect_exit 2 gsealed --test -o - <sealed

# Secrets.
expect_exit 0 "$program" -q -d -k - -i sealed <"$key"
same plain "$work/stdout" "-k -"
# shellcheck disable=SC2002 # the input must be a pipe
key_from_pipe() { cat "$key" | "$program" -q -d -k - -i sealed; }
expect_exit 0 key_from_pipe
same plain "$work/stdout" "-k - from a pipe"
expect_exit 0 "$program" -q --passphrase-file - -i plain -o locked <words
expect_exit 0 "$program" -q -d --passphrase-file - -i locked <words
same plain "$work/stdout" "--passphrase-file -"
expect_exit 0 "$program" -q -r @- -i plain -o public <recipient
expect_exit 0 "$program" -q -d -k - -i public <identity
same plain "$work/stdout" "-r @-, -k - with an identity"

# Rekeying: -o - is standard output, and the input stays unchanged.
cp sealed before
expect_exit 0 "$program" --rekey -k "$key" --new-key - -i sealed -o - <new
cp "$work/stdout" rekeyed
same before sealed "the input of --rekey -o -"
expect_exit 0 "$program" -d -k new -i rekeyed
same plain "$work/stdout" "--new-key -"
expect_exit 0 "$program" --rekey -k "$key" --new-passphrase-file - -i sealed -o rekeyed <words
expect_exit 0 "$program" -d --passphrase-file words -i rekeyed
same plain "$work/stdout" "--new-passphrase-file -"
expect_exit 0 "$program" --rekey -k "$key" --new-key new -i - <sealed
cp "$work/stdout" rekeyed
expect_exit 0 "$program" -d -k new -i rekeyed
same plain "$work/stdout" "--rekey -i -"

# gpuaes-keygen.
"$keygen" -o - >made
grep -Eqx '[0-9a-f]{64}' made || fail "keygen -o -: expected a key, got: $(<made)"
"$keygen" --x25519 -o - >made 2>told
[ "$("$keygen" -y - <made)" = "$(<told)" ] || fail "keygen: expected the recipient $(<told)"
! "$keygen" -y - <words 2>told || fail "keygen -y -: expected an error"
grep -q 'error: .*standard input' told || fail "expected a message about standard input, got: $(<told)"
rm made told

# Messages name the stream.
expect_exit 2 "$program" -k - -i plain <words
expect_stderr 'error: --key: the key in standard input'
expect_exit 2 "$program" --passphrase-file - -i plain </dev/null
expect_stderr 'error: --passphrase-file: the passphrase from standard input is empty'
expect_exit 2 "$program" -r @- -i plain <words
expect_stderr 'line 1 of standard input'
expect_exit 4 gsealed -d -i - <plain
expect_stderr 'error: the input is not in a known format'
chmod 644 words
expect_exit 0 "$program" --passphrase-file - -i plain -o locked <words
expect_stderr 'warning: the file on standard input is readable by other users'
closed() { "$program" -k - -i plain <&-; }
expect_exit 1 closed
expect_stderr 'standard input'

# A file of that name.
[ ! -e - ] || fail "expected no file named -"
expect_exit 0 gsealed -i plain -o ./-
expect_exit 0 gsealed -d -i ./- </dev/null
same plain "$work/stdout" "./-"
cp "$key" ./-
expect_exit 0 "$program" -d -k ./- -i sealed
same plain "$work/stdout" "-k ./-"
