"""X-Wing, after draft-connolly-cfrg-xwing-kem-10. The commands of openssl 3.5 do ML-KEM-768, and
python3-cryptography does X25519."""

import functools
import hashlib
import os
import subprocess
import tempfile

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from programs import WITH_ML_KEM

PUBLIC, CIPHERTEXT = 1184, 1088  # sizes in ML-KEM-768; X25519 adds 32 to both
# DER of a private key with the seed (RFC 5958 and RFC 9935) and of a public key, without their contents.
PRIVATE_DER = bytes.fromhex("3054020100300b060960864801650304040204428040")
PUBLIC_DER = bytes.fromhex("308204b2300b0609608648016503040402038204a100")


def openssl(*command, out, **files):
    """Runs a command on files with these contents, whose names are words of the command. Returns the files in out."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(content)
        words = [WITH_ML_KEM, "openssl", *command]
        subprocess.run(words, cwd=folder, check=True, stdin=subprocess.DEVNULL, capture_output=True)
        results = []
        for name in out:
            with open(os.path.join(folder, name), "rb") as f:
                results.append(f.read())
        return results


def x25519_public(private):
    key = X25519PrivateKey.from_private_bytes(private).public_key()
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def x25519(private, public):
    return X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(public))


def expand(seed):
    """The DER of the ML-KEM key, and the X25519 key."""
    expanded = hashlib.shake_256(seed).digest(96)
    return PRIVATE_DER + expanded[:64], expanded[64:]


def combine(ml_kem, shared, ephemeral, recipient):
    return hashlib.sha3_256(ml_kem + shared + ephemeral + recipient + bytes.fromhex("5c2e2f2f5e5c")).digest()


@functools.cache
def ml_kem_public(ml_kem):
    [der] = openssl("pkey", "-inform", "DER", "-in", "key", "-pubout", "-outform", "DER", "-out", "public", key=ml_kem,
                    out=["public"])
    assert der.startswith(PUBLIC_DER)
    return der[-PUBLIC:]


def ml_kem_decapsulate(ml_kem, ciphertext):
    [secret] = openssl("pkeyutl", "-decap", "-keyform", "DER", "-inkey", "key", "-in", "ciphertext", "-secret", "secret",
                       key=ml_kem, ciphertext=ciphertext, out=["secret"])
    return secret


def public_key(seed):
    ml_kem, private = expand(seed)
    return ml_kem_public(ml_kem) + x25519_public(private)


def encapsulate(public, ephemeral=None):
    """The ciphertext and the shared secret. ephemeral: the ephemeral X25519 private key."""
    ephemeral = os.urandom(32) if ephemeral is None else ephemeral
    ciphertext, secret = openssl("pkeyutl", "-encap", "-pubin", "-keyform", "DER", "-inkey", "key", "-secret", "secret",
                                 "-out", "ciphertext", key=PUBLIC_DER + public[:PUBLIC], out=["ciphertext", "secret"])
    point, recipient = x25519_public(ephemeral), public[PUBLIC:]
    return ciphertext + point, combine(secret, x25519(ephemeral, recipient), point, recipient)


def decapsulate(seed, ciphertext):
    ml_kem, private = expand(seed)
    point = ciphertext[CIPHERTEXT:]
    return combine(ml_kem_decapsulate(ml_kem, ciphertext[:CIPHERTEXT]), x25519(private, point), point, x25519_public(private))
