#!/usr/bin/env bash
# With a libcrypto that has no ML-KEM, post-quantum recipients cannot be used, and their slots are skipped: other secrets
# still open the file, and if none does, the message names the slots that were not tried.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

if "$keygen" --post-quantum >/dev/null 2>&1; then skip "libcrypto has ML-KEM"; fi
version=$(openssl version | sed 's/^OpenSSL \([^ ]*\) .*/\1/')
LACKS="a post-quantum recipient or identity needs OpenSSL 3.5 or newer, this is $version"
HINT='run this on a system with a newer libcrypto'

# From a seed of 32 bytes, and a recipient that no one can open.
python <<'PYTHON'
from sealed_harness import *

text = sf.to_text
secret_file("identity", text(sf.PQ_IDENTITY, bytes(range(32))).encode() + b"\n")
secret_file("x25519", text(sf.IDENTITY, KEY).encode() + b"\n")
with open("recipient", "w") as f:
    f.write(text(sf.PQ_RECIPIENT, bytes(1216)))
file_key, slot = os.urandom(32), (4, b"\x09" * 1168)
for name, slots in {
    "sealed": [slot],
    "with-key": [slot, sf.key_slot(file_key, KEY), slot],
    "with-x25519": [slot, sf.x25519_slot(file_key, sf.public_key(KEY))],
}.items():
    with open(name, "wb") as f:
        f.write(sf.seal(b"plaintext", file_key=file_key, slots=slots))
PYTHON
for command in "$program -R recipient -i x25519 -o out" "$parts plan -R recipient -o out"; do
  # shellcheck disable=SC2086 # several words
  expect_exit 1 $command
  expect_error "the recipients file: $LACKS" "$HINT"
done
expect_exit 1 "$program" -r "$(<recipient)" -i x25519 -o out
expect_error "$LACKS" "$HINT"
for options in "--post-quantum -o out" "--post-quantum" "-y identity"; do
  # shellcheck disable=SC2086 # several words
  expect_exit 1 "$keygen" $options
  expect_error "$LACKS" "$HINT"
  expect_empty "$work/stdout"
done
[ ! -e out ] || fail "expected no output"

expect_exit 3 "$program" -d -k identity -i sealed
expect_error "sealed: no slot opens the input, but slot 1 could not be tried: $LACKS" "$HINT"
expect_exit 3 "$program" -d -k identity -k x25519 -i with-key
expect_error "with-key: no slot opens the input, but slots 1, 3 could not be tried: $LACKS" "$HINT"
expect_exit 3 "$program" -d -k x25519 -i sealed
expect_error 'sealed: the input was sealed for a post-quantum recipient, and no post-quantum identity was given' \
  'name the identity file with -k'
expect_exit 0 "$program" --info sealed
grep -qx 'slot 1         X-Wing recipient' "$work/stdout" || fail "--info: expected the slot, got $(<"$work/stdout")"
for options in "-k $key" "-k identity -k $key"; do
  # shellcheck disable=SC2086 # several words
  expect_exit 0 "$program" -d $options -i with-key
  [ "$(<"$work/stdout")" = plaintext ] || fail "$options: expected the plaintext"
done
expect_exit 0 "$program" -d -k identity -k x25519 -i with-x25519
[ "$(<"$work/stdout")" = plaintext ] || fail "expected the plaintext"
