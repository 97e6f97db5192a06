#!/usr/bin/env bash
# Only the right identity opens a recipient's slot, and only if the slot is unmodified. A slot with an ephemeral key
# that is not canonical, or whose shared secret is zero, is skipped.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

plain = make_input(20000)
identity, other = bytes(range(32)), bytes(range(1, 33))
recipient = sf.public_key(identity)
for name, private in (("identity", identity), ("other", other)):
    secret_file(name, sf.to_text(sf.IDENTITY, private).encode() + b"\n")
secret_file("passphrase", b"correct horse\n")
file_key = os.urandom(32)
good = sf.x25519_slot(file_key, recipient)


def seal(*slots, **fields):
    return sf.seal(plain, slots=slots, file_key=file_key, **fields)


def refused(want, what, data, secrets=("-k", "identity"), message=None, **named):
    named = named or {"identity": identity}
    expect_equal((want, b""), open_independently(data, **named), f"{what}: independent reader")
    got = expect(want, b"", "-d", *secrets, data=data, what=what)
    if message:
        expect_message(got, message, what)


expect(0, plain, "-d", "-k", "identity", data=seal(good), what="valid")
refused(3, "another's identity", seal(good), ("-k", "other"), "none of the given identities opens the input", identity=other)
refused(3, "a key for a recipient's slot", seal(good), ("-k", key), "the input was sealed for an X25519 recipient, and no X25519 identity was given\n.*hint: name the identity file with -k\n", key=KEY)
refused(3, "a passphrase for a recipient's slot", seal(good), ("--passphrase-file", "passphrase"),
        "the input was sealed for an X25519 recipient, and no X25519 identity was given", passphrase=b"correct horse")
refused(3, "an identity for a key's slot", sf.seal(plain, [KEY]), message="error: the input was sealed with a key file, and none was given\n.*hint: name the key file with -k\n")
refused(3, "an identity for a passphrase's slot", sf.seal(plain, passphrase=b"correct horse", log_n=10),
        message="error: the input was sealed with a passphrase, and none was given\n.*hint: use -p to enter the passphrase\n")
got = expect(3, b"", "-d", "-k", "other", "-k", secret_file("key2", OTHER_KEY), what="two kinds",
             data=seal(good, sf.key_slot(file_key, KEY)))
expect_message(got, "none of the given secrets opens", "two kinds")
for at in thinned(range(80), 7):
    refused(3, f"byte {at} of the slot damaged", seal((3, flip(good[1], at, at % 8))))
refused(4, "a slot of another file", seal(sf.x25519_slot(os.urandom(32), recipient)))
refused(4, "another header MAC", seal(good, mac=bytes(32)))
refused(4, "along with a passphrase slot", seal(good, sf.passphrase_slot(file_key, b"correct horse", 10)))

# Slots that would open for any identity if a shared secret of zero were accepted.
P = 2**255 - 19
low = [0, 1, 325606250916557431795983626356110631294008115727848805560023387167927233504,
       39382357235489614581723060781553021112529911719440698176882885853963445705823, P - 1, P, P + 1]
for number in low + [each + 2**255 for each in low]:
    public = number.to_bytes(32, "little")
    kek = sf.HKDF(sf.hashes.SHA512(), 32, public + recipient, b"gpuaes-stream/1 x25519").derive(bytes(32))
    refused(3, f"ephemeral key {public.hex()}", seal((3, public + sf.wrap(kek, file_key))))

# Keys that are not canonical: with the highest bit set, or p added to a small one (9, the base point).
ephemeral = bytes(range(7, 39))
shared = sf.X25519PrivateKey.from_private_bytes(ephemeral).exchange(sf.X25519PublicKey.from_public_bytes(recipient))
public = sf.public_key(ephemeral)
at_nine = sf.X25519PrivateKey.from_private_bytes(identity).exchange(
    sf.X25519PublicKey.from_public_bytes((9).to_bytes(32, "little")))
for key_bytes, secret, want in (
    (public, shared, 0),
    (public[:31] + bytes([public[31] | 128]), shared, 3),
    ((9).to_bytes(32, "little"), at_nine, 0),
    ((9 + P).to_bytes(32, "little"), at_nine, 3),
):
    kek = sf.HKDF(sf.hashes.SHA512(), 32, key_bytes + recipient, b"gpuaes-stream/1 x25519").derive(secret)
    data, what = seal((3, key_bytes + sf.wrap(kek, file_key))), f"ephemeral key {key_bytes.hex()}"
    expect(want, plain if want == 0 else b"", "-d", "-k", "identity", data=data, what=what)
    expect_equal(want, open_independently(data, identity=identity)[0], f"{what}: independent reader")
PYTHON

# An identity given instead of a name does not appear in a message.
"${program%stream}keygen" --x25519 -o own >/dev/null
line=$(head -n 1 own)
for options in "-r @$line" "-r @x$line" "-i $line" "-i ${line,,}" "-o $line/x" "-k x$line" "--stats $line/x"; do
  # shellcheck disable=SC2086 # options
  if gsealed $options </dev/null >/dev/null 2>"$work/stderr"; then fail "expected an error with $options"; fi
  if grep -qi "${line:24:20}" "$work/stderr"; then fail "expected no identity in $(<"$work/stderr")"; fi
done
