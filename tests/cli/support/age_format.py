"""An independent implementation of age files (c2sp.org/age), with python3-cryptography; shares no code with the program.

open_age() returns the plaintext or raises an Unopened of sealed_format.py. seal() writes valid files; for malformed ones
call header(), stanzas and segments() with other values. A stanza is a list of arguments and a body."""

import base64
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

import sealed_format as sf

SEGMENT, TAG = 65536, 16
SEALED = SEGMENT + TAG
IDENTITY = bytes(range(32))  # what identity_file() holds
RECIPIENT = sf.public_key(IDENTITY)


def recipient_text(public=RECIPIENT):
    return sf.to_text("age", public)


def identity_text(private=IDENTITY):
    return sf.to_text("AGE-SECRET-KEY-", private)


def hkdf(key, salt, info):
    return HKDF(hashes.SHA256(), 32, salt, info).derive(key)


def b64(data):
    return base64.b64encode(data).decode().rstrip("=")


# --- Header --------------------------------------------------------------------------------------------------------

def wrap(key, file_key):
    return ChaCha20Poly1305(key).encrypt(bytes(12), file_key, b"")


def x25519_stanza(file_key, recipient=RECIPIENT):
    ephemeral = os.urandom(32)
    share = sf.public_key(ephemeral)
    shared = X25519PrivateKey.from_private_bytes(ephemeral).exchange(X25519PublicKey.from_public_bytes(recipient))
    return ["X25519", b64(share)], wrap(hkdf(shared, share + recipient, b"age-encryption.org/v1/X25519"), file_key)


def scrypt_stanza(file_key, passphrase, log_n=10):
    salt = os.urandom(16)
    key = Scrypt(b"age-encryption.org/v1/scrypt" + salt, 32, 1 << log_n, 8, 1).derive(passphrase)
    return ["scrypt", b64(salt), str(log_n)], wrap(key, file_key)


def stanza_text(arguments, body):
    text = b64(body)
    lines = [text[i : i + 64] for i in range(0, len(text) + 1, 64)]
    return f"-> {' '.join(arguments)}\n" + "".join(line + "\n" for line in lines)


def header(file_key, stanzas, version="v1", mac=None):
    text = f"age-encryption.org/{version}\n" + "".join(stanza_text(*each) for each in stanzas) + "---"
    if mac is None:
        computed = hmac.HMAC(hkdf(file_key, b"", b"header"), hashes.SHA256())
        computed.update(text.encode())
        mac = computed.finalize()
    return f"{text} {b64(mac)}\n".encode()


# --- Payload -------------------------------------------------------------------------------------------------------

def nonce(number, last):
    return number.to_bytes(11, "big") + bytes([last])


def segment(file_key, salt, number, last, plaintext):
    return ChaCha20Poly1305(hkdf(file_key, salt, b"payload")).encrypt(nonce(number, last), plaintext, b"")


def segments(file_key, salt, plaintext):
    """The segments of a payload, as a list."""
    cuts = [plaintext[i : i + SEGMENT] for i in range(0, len(plaintext), SEGMENT)] or [b""]
    return [segment(file_key, salt, i, i == len(cuts) - 1, cut) for i, cut in enumerate(cuts)]


def seal(plaintext, stanzas=None, file_key=None, salt=None):
    file_key, salt = file_key or os.urandom(16), salt or os.urandom(16)
    head = header(file_key, [x25519_stanza(file_key)] if stanzas is None else stanzas)
    return head + salt + b"".join(segments(file_key, salt, plaintext))


def open_payload(file_key, data):
    """A full segment is tried as not last, then as last, and a shorter one only as last."""
    if len(data) < 16:
        raise sf.Malformed("no nonce")
    aead, at, number, plaintext = ChaCha20Poly1305(hkdf(file_key, data[:16], b"payload")), 16, 0, b""
    while True:
        cut = data[at : at + SEALED]
        for last in ((False, True) if len(cut) == SEALED else (True,)):
            try:
                plain = aead.decrypt(nonce(number, last), cut, b"")
                break
            except InvalidTag:
                pass
        else:
            raise sf.Damaged("bad tag", plaintext, at)
        if not plain and number > 0:
            raise sf.Damaged("an empty last segment", plaintext, at)
        plaintext, at, number = plaintext + plain, at + len(cut), number + 1
        if last and at < len(data):
            raise sf.Damaged("trailing bytes", plaintext, at)
        if last:
            return plaintext


def from_b64(text):
    return base64.b64decode(text + "=" * (-len(text) % 4))


def x25519_unwrap(identity):
    def unwrap(arguments, body):
        if arguments[0] != "X25519":
            return None
        share = from_b64(arguments[1])
        shared = X25519PrivateKey.from_private_bytes(identity).exchange(X25519PublicKey.from_public_bytes(share))
        key = hkdf(shared, share + sf.public_key(identity), b"age-encryption.org/v1/X25519")
        try:
            return ChaCha20Poly1305(key).decrypt(bytes(12), body, b"")
        except InvalidTag:
            return None

    return unwrap


def open_age(data, identity=IDENTITY, unwrap=None):
    """Of a file that the program wrote for an X25519 identity, or for what `unwrap` opens; it may have other stanzas.
    unwrap(arguments, body) returns the file key or None."""
    unwrap = unwrap or x25519_unwrap(identity)
    head, mac, rest = data.partition(b"\n--- ")
    assert mac, "no MAC"
    for stanza in head.decode().split("\n-> ")[1:]:
        arguments, *lines = stanza.split("\n")
        file_key = unwrap(arguments.split(" "), from_b64("".join(lines)))
        if file_key is None:
            continue
        computed = hmac.HMAC(hkdf(file_key, b"", b"header"), hashes.SHA256())
        computed.update(head + b"\n---")
        if rest[:44] != (b64(computed.finalize()) + "\n").encode():
            raise sf.Malformed("the MAC differs")
        return open_payload(file_key, rest[44:])
    raise sf.WrongSecret("no stanza opens")
