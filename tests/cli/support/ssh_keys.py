"""An independent implementation of ssh keys in age files (c2sp.org/age), with python3-cryptography."""

import base64
import hashlib
import os
import pathlib
import types

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

import age_format as age
import sealed_format as sf
from programs import secret_file

PRIME = 2**255 - 19
ED25519_LABEL, RSA_LABEL = b"age-encryption.org/v1/ssh-ed25519", b"age-encryption.org/v1/ssh-rsa"


def make(kind):
    """A private key: ed25519, ecdsa, or the bits of an RSA key."""
    if kind == "ed25519":
        return ed25519.Ed25519PrivateKey.generate()
    return ec.generate_private_key(ec.SECP256R1()) if kind == "ecdsa" else rsa.generate_private_key(65537, kind)


def private_text(key, passphrase=None, form=serialization.PrivateFormat.OpenSSH):
    hide = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, hide)


def public_line(key):
    """As in authorized_keys, without a comment."""
    form = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    return key.public_key().public_bytes(*form).decode()


def write(name, key):
    """Writes the private key to the file `name`, and the public key to `name`.pub."""
    secret_file(name, private_text(key))
    text = public_line(key)
    pathlib.Path(f"{name}.pub").write_text(f"{text} me@host\n")
    return types.SimpleNamespace(name=name, key=key, text=text)


def string(data):
    return len(data).to_bytes(4, "big") + data


def line(kind, *fields):
    """A public key with these fields, which may be wrong."""
    return f"{kind} {base64.b64encode(b''.join(map(string, (kind.encode(), *fields)))).decode()}"


def wire(text):
    return base64.b64decode(text.split()[1])


def tag(text):
    return age.b64(hashlib.sha256(wire(text)).digest()[:4])


def to_x25519(point):
    y = int.from_bytes(point, "little") % 2**255
    return ((1 + y) * pow(1 - y, -1, PRIME) % PRIME).to_bytes(32, "little")


def ed25519_stanza(file_key, text):
    public, ephemeral = to_x25519(wire(text)[-32:]), os.urandom(32)
    share, key = sf.public_key(ephemeral), X25519PrivateKey.from_private_bytes(ephemeral)
    shared = key.exchange(X25519PublicKey.from_public_bytes(public))
    tweak = X25519PrivateKey.from_private_bytes(age.hkdf(b"", wire(text), ED25519_LABEL))
    tweaked = tweak.exchange(X25519PublicKey.from_public_bytes(shared))
    body = age.wrap(age.hkdf(tweaked, share + public, ED25519_LABEL), file_key)
    return ["ssh-ed25519", tag(text), age.b64(share)], body


def oaep():
    return padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), RSA_LABEL)


def rsa_stanza(file_key, text):
    public = serialization.load_ssh_public_key(text.encode())
    return ["ssh-rsa", tag(text)], public.encrypt(file_key, oaep())


def stanza(file_key, text):
    return (ed25519_stanza if text.startswith("ssh-ed25519") else rsa_stanza)(file_key, text)
