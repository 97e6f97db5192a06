"""What the vectors are made of: secrets, slots and whole files."""

import hashlib
import pathlib

import parts_format as pf
import sealed_format as sf
import xwing

TESTS = pathlib.Path(__file__).resolve().parents[1]
SEGMENT, SEALED = 16384, 16400
PATTERN = bytes(range(251)) * 200  # its beginning is the plaintext of each file
SMALL = PATTERN[:100]
UNSUPPORTED, WRONG_SECRET, DAMAGED = "unsupported", "wrong secret", "damaged"

FILE_KEY, FOREIGN_KEY = bytes(range(100, 132)), bytes(range(60, 92))
KEY, OTHER_KEY, PASSPHRASE = bytes(range(32)), bytes(range(32, 0, -1)), b"correct horse"
IDENTITIES = [bytes(range(i, i + 32)) for i in (9, 10)]
RECIPIENTS = [sf.public_key(identity) for identity in IDENTITIES]
# Seed, random bytes, public key, ciphertext and shared secret: published ones, so the kit can be made without ML-KEM.
XWING = [[bytes.fromhex(field) for field in line.strip('",').split()]
         for line in (TESTS / "vectors/xwing.inc").read_text().splitlines() if line.startswith('"')]

# Secrets, as arguments of sf.open_sealed().
BY_KEY, BY_PASSPHRASE = {"key": KEY}, {"passphrase": PASSPHRASE}
BY_X25519, BY_XWING = {"identity": IDENTITIES[0]}, {"pq_identity": XWING[0][0]}


def own_slot(file_key=FILE_KEY):
    return sf.key_slot(file_key, KEY)


def passphrase_slot(log_n=10, r=8, p=1):
    return sf.passphrase_slot(FILE_KEY, PASSPHRASE, log_n, r, p)


def x25519_slot(number=0):
    return sf.x25519_slot(FILE_KEY, RECIPIENTS[number])


def careless_x25519_slot(point, shared):
    """The ephemeral key `point` is one that writers must not use; `shared` is the secret that a careless reader computes."""
    kek = sf.HKDF(sf.hashes.SHA512(), 32, point + RECIPIENTS[0], b"gpuaes-stream/1 x25519").derive(shared)
    return sf.X25519, point + sf.wrap(kek, FILE_KEY)


def xwing_slot_of(public, ciphertext, secret):
    return sf.XWING, ciphertext + sf.wrap(sf.xwing_kek(secret, ciphertext, public), FILE_KEY)


def xwing_slot(number=0):
    return xwing_slot_of(*XWING[number][2:])


def careless_xwing_slot(point, shared):
    """As careless_x25519_slot(), for the X25519 part."""
    _, random, public, ciphertext, secret = XWING[0]
    ml_kem = hashlib.sha3_512(random[:32] + hashlib.sha3_256(public[:1184]).digest()).digest()[:32]
    assert secret == xwing.combine(ml_kem, xwing.x25519(random[32:], public[1184:]), ciphertext[1088:], public[1184:])
    return xwing_slot_of(public, ciphertext[:1088] + point, xwing.combine(ml_kem, shared, point, public[1184:]))


def unknown_slot(kind, size):
    return kind, bytes(i & 255 for i in range(size))


def make_job(suite, label=b"", **fields):
    """The beginning of a file made of parts, with one slot unless `fields`, arguments of sf.header(), say otherwise."""
    return pf.Job(FILE_KEY, label, sf.header(FILE_KEY, **{"slots": [own_slot()], "suite": suite, **fields}))


def make(slots, plain=SMALL, suite=1, label=b"", **fields):
    """A file of any suite. fields: arguments of sf.header()"""
    if suite in pf.LIMITS:
        job = make_job(suite, label, slots=slots, **fields)
        return pf.join(job, pf.seal_parts(job, pf.cut(plain, 3), 3))
    return sf.seal(plain, slots=slots, file_key=FILE_KEY, suite=suite, label=label, **fields)
