#!/usr/bin/env bash
# gpuaes-keygen --post-quantum makes identities and recipients, which work with -r, -R, -k, -y, --rekey, --info and
# gpuaes-parts plan. Malformed ones and other kinds are refused with the reason, and messages never show an identity.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_ml_kem

umask 077
for i in 1 2; do "$keygen" --post-quantum -o "identity$i" >"recipient$i"; done
"$keygen" --x25519 -o x25519 >x25519-recipient
recipient=$(<recipient1) identity=$(head -n 1 identity1)
[[ $identity =~ ^GPUAES-SECRET-KEY-PQ-1[02-9AC-HJ-NP-Z]{58}$ ]] || fail "expected an identity on the first line"
[[ $recipient =~ ^gpuaespq1[02-9ac-hj-np-z]{1952}$ ]] || fail "expected a recipient, got $recipient"
[ "$(sed 1d identity1)" = "# recipient: $recipient" ] || fail "expected the recipient as a comment"
[ "$recipient" != "$(<recipient2)" ] || fail "expected different recipients"
expect_exit 0 "$keygen" -y identity1
same recipient1 "$work/stdout" -y
cat x25519 identity1 <(echo '# another one') identity2 >all
expect_exit 0 "$keygen" -y all
same <(cat x25519-recipient recipient1 recipient2) "$work/stdout" "-y, identities of both kinds"
expect_exit 0 "$keygen" --post-quantum
same <(sed -n 's/^# recipient: //p' "$work/stdout") "$work/stderr" "the recipient on standard error"
for options in '--x25519 --post-quantum' '-y identity1 --post-quantum'; do
  # shellcheck disable=SC2086 # several words
  expect_exit 2 "$keygen" $options
done

# Sealing and opening. The overhead of one slot and of 32.
make_input 40000 plain
for options in "-r $recipient" '-R recipient1' '-r @recipient1' '-R identities'; do
  sed -n 's/^# recipient: //p' identity1 >identities
  # shellcheck disable=SC2086 # several words
  expect_exit 0 "$program" $options -i plain -o sealed
  expect_empty "$work/stderr"
  [ "$(wc -c <sealed)" = $((108 + 1171 + 40000 + 3 * 16)) ] || fail "expected one slot, got $(wc -c <sealed) bytes"
  expect_exit 0 "$program" -d -k identity1 -i sealed
  same plain "$work/stdout" "$options"
done
for ((i = 0; i < 32; i++)); do cat recipient1; done >list
expect_exit 0 "$program" -R list -i plain -o sealed32
[ "$(wc -c <sealed32)" = $((108 + 32 * 1171 + 40000 + 3 * 16)) ] || fail "expected 32 slots, got $(wc -c <sealed32) bytes"
expect_exit 0 "$program" --test -k all -i sealed32
expect_exit 2 "$program" -R list -r "$recipient" -i plain -o out
expect_error 'the sealed format allows at most 32 keys, recipients and passphrases in total'
expect_exit 0 "$program" --info sealed
grep -qx 'slot 1         X-Wing recipient' "$work/stdout" || fail "--info: expected the slot, got $(<"$work/stdout")"
expect_exit 0 "$program" --info --json sealed
grep -q '"slots": \[{"type": 4, "kind": "X-Wing recipient"}\], "header_bytes": 1279,' "$work/stdout" ||
  fail "--info --json: expected the slot, got $(<"$work/stdout")"

# What is never combined when writing.
MIXED='post-quantum recipients cannot be combined with X25519 recipients'
HINT='use recipients of one kind; with both, a file would be only as safe as X25519'
printf 'correct horse\n' >passphrase
for command in "$program -i plain -o out" "$program --rekey -k identity1 -i sealed -o out" "$parts plan -o out"; do
  for options in '-R recipient1 -R x25519-recipient' '-R x25519-recipient -R x25519-recipient -R recipient1'; do
    # shellcheck disable=SC2086 # several words
    expect_exit 2 $command $options
    expect_error "$MIXED" "$HINT"
  done
done
expect_exit 2 "$program" -R recipient1 --passphrase-file passphrase -i plain -o out
expect_stderr 'error: a passphrase cannot be combined with recipients$'
expect_exit 2 "$program" --rekey -k identity1 -R recipient1 --new-passphrase-file passphrase -i sealed -o out
expect_stderr 'error: a passphrase cannot be combined with recipients$'
[ ! -e out ] || fail "expected no output"

# Other slots for a file, from and to those for post-quantum recipients.
expect_exit 0 "$program" --rekey -k identity1 -R recipient2 --new-key "$key" -i sealed
expect_exit 0 "$program" -d -k identity2 -i sealed
same plain "$work/stdout" "--rekey"
expect_exit 0 gsealed -d -i sealed
same plain "$work/stdout" "--rekey, the key"
expect_exit 3 "$program" -d -k identity1 -i sealed
expect_exit 0 "$program" --rekey -k identity2 -R x25519-recipient -i sealed
expect_exit 0 "$program" --rekey -k x25519 -R recipient1 -i sealed
expect_exit 0 "$program" -d -k identity1 -i sealed
same plain "$work/stdout" "--rekey from X25519"

# A file made of parts.
expect_exit 0 "$parts" plan -R recipient1 -R recipient2 -i plain -n 2 -o dir
for i in 0 1; do expect_exit 0 "$parts" seal dir --part $i; done
expect_exit 0 "$parts" join dir -o joined
expect_exit 0 "$program" -d -k identity2 -i joined
same plain "$work/stdout" "parts"

# Malformed ones. Messages show only the beginning of a long recipient.
secretive() {
  local messages
  messages=$(<"$work/stderr")
  if [[ ${messages^^} == *SECRET-KEY-PQ-1[A-Z0-9]* || ${messages^^} == *"${identity:24:12}"* ]]; then
    fail "expected no part of the identity, got: $messages"
  fi
}
refused() { # ERROR HINT RECIPIENT
  expect_exit 2 "$program" -r "$3" -i plain -o out
  expect_error "$1" "$2"
  secretive
  [ ! -e out ] || fail "expected no output"
}
ASK='a recipient is the line that gpuaes-keygen -y prints for an identity'
shown="-r ${recipient:0:40}..."
refused "$shown is not a valid recipient: it has 1960 characters instead of 1961" "$ASK" "${recipient:0:1960}"
refused "-r ${recipient:0:65} is not a valid recipient: it has 65 characters instead of 1961" "$ASK" "${recipient:0:65}"
refused "$shown is not a valid recipient: it has 1962 characters instead of 1961" "$ASK" "${recipient}q"
refused "-r G${recipient:1:39}... is not a valid recipient: it mixes uppercase and lowercase letters" "$ASK" "G${recipient:1}"
refused "$shown is not a valid recipient: it contains an invalid character" "$ASK" "${recipient:0:1000}b${recipient:1001}"
swapped=${recipient:1000:1}
if [ "$swapped" = q ]; then swapped=p; else swapped=q; fi
refused "$shown is not a valid recipient: its checksum is wrong; check for typing errors" "$ASK" \
  "${recipient:0:1000}$swapped${recipient:1001}"
refused "the argument of --recipient is a secret identity, not a recipient" "$ASK" "$identity"
refused "the argument of --recipient is a secret identity, not a recipient" "$ASK" "${identity,,}"
refused "the argument of --recipient is a secret identity, not a recipient" "$ASK" "${identity:0:40}"
refused "the argument of --recipient is a post-quantum age recipient, which is not supported" \
  'run gpuaes-keygen --post-quantum to make an identity and print its recipient' "age1pq1${recipient:9:300}"
refused "the recipients file: line 1 of identity1 is a secret identity, not a recipient" "$ASK" @identity1

bad() { # ERROR HINT LINE...: a file with these lines is refused
  printf '%s\n' "${@:3}" >bad
  expect_exit 2 "$program" -d -k bad -i sealed -o out
  expect_error "--key: $1" "$2"
  secretive
}
FIRST='an identity is the first line of the file that gpuaes-keygen --x25519 or --post-quantum writes'
bad 'line 1 of bad is not a valid identity: it has 79 characters instead of 80' "$FIRST" "${identity:0:79}"
bad 'line 2 of bad is not a valid identity: it mixes uppercase and lowercase letters' "$FIRST" '# mine' "gpuaes${identity:6}"
bad 'bad contains a post-quantum age identity, which is not supported' \
  'run gpuaes-keygen --post-quantum to make an identity' "$identity" AGE-SECRET-KEY-PQ-1GFPYYSJZ
bad 'bad contains a recipient, not a key' \
  'use -r @FILE to seal for the recipients in a file; to decrypt, name an identity file with -k' "$recipient" "$identity"
bad 'line 2 of bad is a recipient, not an identity' 'put recipients in a file of their own' "$identity" "$recipient"
expect_exit 2 "$program" -k identity1 -i plain -o out
expect_error '--key: identity1 contains an identity, which can open files but not seal them' \
  'seal with -r for its recipient, which gpuaes-keygen -y prints'
expect_exit 2 "$program" -d -k "$identity" -i sealed
expect_error '--key: an identity was given instead of the name of its file' \
  'other users may have seen this command line; make a new identity with gpuaes-keygen --x25519 or --post-quantum'
secretive
expect_exit 2 "$program" -k "$recipient" -i plain
expect_error '--key: a recipient was given instead of a file name' \
  'use gpuaes-stream -r for recipients; keys and identities are read from files'
expect_exit 4 gsealed -d -i identity1
expect_error 'identity1: the input contains an identity, not an encrypted file' 'name the identity file with -k'
