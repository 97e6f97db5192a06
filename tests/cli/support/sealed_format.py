"""An independent implementation of the sealed format, version 1. Follows gpuaes-stream(5), uses python3-cryptography,
kuznyechik_mgm.py and xwing.py, and shares no code with the program.

Processes whole messages in memory, for tests. open_sealed() and open_message() return the plaintext or raise an
Unopened with the exit status that the format specifies. seal() writes valid files; for malformed ones call header() and
message() with other values for their fields. A slot is a pair (type, body).
"""

import os
import re

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import constant_time, hashes, hmac, serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

import xwing
from kuznyechik_mgm import KuznyechikMGM

MAGIC = b"gpuaes-stream/1\n"
COBBLESTONE_256, KUZNYECHIK_MGM = 1, 2  # suites
KEY_FILE, PASSPHRASE, X25519, XWING = 1, 2, 3, 4  # slot types
BODY_SIZES = {KEY_FILE: 64, PASSPHRASE: 67, X25519: 80, XWING: 1168}
SEGMENT, TAG = 16384, 16


class Unopened(Exception):
    exit = 4


class Unsupported(Unopened):
    exit = 1  # another version, suite or kind of slot


class WrongSecret(Unopened):
    exit = 3  # no slot unwraps, or the commitment of a bare message differs


class Malformed(Unopened):
    """The header is malformed or not authentic."""


class Damaged(Unopened):
    """A segment is not authentic, or the end is missing. plaintext: the segments before it; offset: where it begins."""

    def __init__(self, what, plaintext, offset):
        super().__init__(f"{what} at byte {offset} of the input, after {len(plaintext)} bytes of plaintext")
        self.plaintext, self.offset = plaintext, offset


# --- Key schedule ------------------------------------------------------------------------------------------------

def expand(key, info, size):
    return HKDFExpand(hashes.SHA512(), size, info).derive(key)


def key_file_kek(key, salt):
    return HKDF(hashes.SHA512(), 32, salt, b"gpuaes-stream/1 key file").derive(key)


def passphrase_kek(passphrase, salt, log_n, r, p):
    return Scrypt(b"gpuaes-stream/1 passphrase" + salt, 32, 1 << log_n, r, p).derive(passphrase)


def public_key(private):
    key = X25519PrivateKey.from_private_bytes(private).public_key()
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def is_canonical(public):
    return int.from_bytes(public, "little") < 2**255 - 19


def x25519_kek(private, public, ephemeral, recipient):
    """None if the public key is not canonical or the shared secret is zero."""
    if not is_canonical(public):
        return None
    try:
        shared = X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:  # the shared secret is zero
        return None
    return HKDF(hashes.SHA512(), 32, ephemeral + recipient, b"gpuaes-stream/1 x25519").derive(shared)


def xwing_kek(shared, ciphertext, recipient):
    return HKDF(hashes.SHA512(), 32, ciphertext + recipient, b"gpuaes-stream/1 x-wing").derive(shared)


def opening_xwing_kek(seed, ciphertext):
    """None if the X25519 part of the ciphertext is not canonical or results in a shared secret of zero."""
    if not is_canonical(ciphertext[-32:]):
        return None
    try:
        return xwing_kek(xwing.decapsulate(seed, ciphertext), ciphertext, xwing.public_key(seed))
    except ValueError:  # the shared secret is zero
        return None


def header_mac(file_key, authenticated):
    mac = hmac.HMAC(expand(file_key, b"gpuaes-stream/1 header", 64), hashes.SHA512())
    mac.update(authenticated)
    return mac.finalize()[:32]


def mgm_keys(key, context, salt):
    """Key, base nonce and commitment of suite 02."""
    secret = expand(key, b"gpuaes-stream/1+KUZNYECHIK_MGM\0" + salt + context, 32 + 16 + 32)
    return secret[:32], secret[32:48], secret[48:]


def message_keys(key, context, salt):
    """AES key, base nonce and commitment of Cobblestone-256 (32-byte keys) or Cobblestone-128 (16-byte keys)."""
    if len(key) not in (16, 32):
        raise ValueError("Cobblestone takes a key of 16 or 32 bytes")
    info = b"c2sp.org/chunked-encryption@v1+" + b"AEAD_AES_%d_GCM" % (8 * len(key)) + b"\0" + salt + context
    secret = expand(key, info, len(key) + 12 + 32)
    return secret[: len(key)], secret[len(key) : -32], secret[-32:]


def nonce(base, index):
    return (int.from_bytes(base, "big") ^ index).to_bytes(12, "big")


def mgm_nonce(base, index):
    return ((int.from_bytes(base, "big") ^ index) & ((1 << 127) - 1)).to_bytes(16, "big")


def suite_of(suite, key, context, salt):
    """The AEAD of a suite, a function from index to nonce, the associated data, and the commitment."""
    if suite == KUZNYECHIK_MGM:
        mgm_key, base, commitment = mgm_keys(key, context, salt)
        return KuznyechikMGM(mgm_key), lambda index: mgm_nonce(base, index), MAGIC, commitment
    aes_key, base, commitment = message_keys(key, context, salt)
    return AESGCM(aes_key), lambda index: nonce(base, index), b"", commitment


# --- Recipients and identities as text: Bech32, BIP 173 ----------------------------------------------------------

RECIPIENT, IDENTITY = "age", "AGE-SECRET-KEY-"
PQ_RECIPIENT, PQ_IDENTITY = "age1pq", "AGE-SECRET-KEY-PQ-"
DIGITS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def bech32_state(prefix, values):
    state = 1
    for value in [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix] + values:
        top, state = state >> 25, (state & 0x1FFFFFF) << 5 ^ value
        for i, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            state ^= generator * (top >> i & 1)
    return state


def to_text(prefix, data):
    bits = "".join(f"{byte:08b}" for byte in data)
    bits += "0" * (-len(bits) % 5)
    values = [int(bits[i : i + 5], 2) for i in range(0, len(bits), 5)]
    check = bech32_state(prefix.lower(), values + [0] * 6) ^ 1
    text = prefix.lower() + "1" + "".join(DIGITS[v] for v in values + [check >> 5 * i & 31 for i in range(5, -1, -1)])
    return text.upper() if prefix.isupper() else text


# --- The bare message: salt || commitment || segments ------------------------------------------------------------

def message(key, context, plaintext, salt=None, suite=COBBLESTONE_256):
    salt = os.urandom(24) if salt is None else salt
    aead, nonce_of, aad, commitment = suite_of(suite, key, context, salt)
    parts = [salt, commitment]
    for index in range(len(plaintext) // SEGMENT + 1):
        part = plaintext[index * SEGMENT : (index + 1) * SEGMENT]
        parts.append(aead.encrypt(nonce_of(index), part, aad))
    return b"".join(parts)


def open_message(key, context, data, wrong=WrongSecret, offset=0, suite=COBBLESTONE_256):
    """offset: where the message begins in the input. wrong: the exception to raise if the commitment differs."""
    if len(data) < 56:
        raise Malformed("the message ends in its header")
    aead, nonce_of, aad, commitment = suite_of(suite, key, context, data[:24])
    if not constant_time.bytes_eq(commitment, data[24:56]):
        raise wrong("the commitment differs")
    plaintext, at, index = [], 56, 0
    while True:
        segment = data[at : at + SEGMENT + TAG]
        if len(segment) < TAG:
            raise Damaged("truncated", b"".join(plaintext), offset + at)
        try:
            plaintext.append(aead.decrypt(nonce_of(index), segment, aad))
        except InvalidTag:
            raise Damaged("bad tag", b"".join(plaintext), offset + at) from None
        if len(segment) < SEGMENT + TAG:
            return b"".join(plaintext)
        at, index = at + len(segment), index + 1


# --- Writing the header --------------------------------------------------------------------------------------------

def wrap(kek, file_key):
    return AESGCM(kek).encrypt(bytes(12), file_key, b"")


def key_slot(file_key, key, salt=None):
    salt = os.urandom(16) if salt is None else salt
    return KEY_FILE, salt + wrap(key_file_kek(key, salt), file_key)


def passphrase_slot(file_key, passphrase, log_n=17, r=8, p=1, salt=None):
    salt = os.urandom(16) if salt is None else salt
    return PASSPHRASE, bytes([log_n, r, p]) + salt + wrap(passphrase_kek(passphrase, salt, log_n, r, p), file_key)


def x25519_slot(file_key, recipient, ephemeral=None):
    """ephemeral: the ephemeral private key."""
    ephemeral = os.urandom(32) if ephemeral is None else ephemeral
    public = public_key(ephemeral)
    return X25519, public + wrap(x25519_kek(ephemeral, recipient, public, recipient), file_key)


def xwing_slot(file_key, recipient, ephemeral=None):
    ciphertext, shared = xwing.encapsulate(recipient, ephemeral)
    return XWING, ciphertext + wrap(xwing_kek(shared, ciphertext, recipient), file_key)


def header(file_key, slots, suite=COBBLESTONE_256, magic=MAGIC, count=None, size=None, mac=None):
    """count, size and mac have the right values by default."""
    packed = b"".join(bytes([kind]) + len(body).to_bytes(2, "big") + body for kind, body in slots)
    count = len(slots) if count is None else count
    size = len(packed) if size is None else size
    authenticated = magic + bytes([suite, count]) + size.to_bytes(2, "big") + packed
    return authenticated + (header_mac(file_key, authenticated) if mac is None else mac)


def make_slots(file_key, keys=(), passphrase=None, log_n=17, recipients=()):
    slots = [key_slot(file_key, key) for key in keys] + [x25519_slot(file_key, each) for each in recipients]
    return slots if passphrase is None else [*slots, passphrase_slot(file_key, passphrase, log_n)]


def seal(plaintext, keys=(), passphrase=None, log_n=17, recipients=(), file_key=None, salt=None, slots=None, label=b"",
         **fields):
    """slots: replaces the slots for keys, recipients and passphrase; fields: arguments of header()."""
    file_key = os.urandom(32) if file_key is None else file_key
    slots = make_slots(file_key, keys, passphrase, log_n, recipients) if slots is None else slots
    head = header(file_key, slots, **fields)
    return head + message(file_key, head[:17] + label, plaintext, salt, fields.get("suite", COBBLESTONE_256))


# --- Reading the header --------------------------------------------------------------------------------------------

def parse_header(data, suites=(COBBLESTONE_256, KUZNYECHIK_MGM)):
    """The slots of a well-formed header, and the size of magic, suite, counts and slots."""
    if data[:16] != MAGIC:
        if re.match(rb"gpuaes-stream/(\d\n|[1-9]\d)", data):
            raise Unsupported("another version of the format")
        raise Malformed("wrong magic")
    if len(data) > 16 and data[16] not in suites:
        raise Unsupported(f"unknown suite {data[16]}")
    if len(data) < 20:
        raise Malformed("the header is short")
    count, end = data[17], 20 + int.from_bytes(data[18:20], "big")
    if not 1 <= count <= 32 or len(data) < end + 32:
        raise Malformed("no slots, too many slots, or the header is short")
    slots, at = [], 20
    for _ in range(count):
        if at + 3 > end:
            raise Malformed("the slots do not fit their size")
        kind, size = data[at], int.from_bytes(data[at + 1 : at + 3], "big")
        at += 3 + size
        if at > end:
            raise Malformed("the slots do not fit their size")
        slots.append((kind, data[at - size : at]))
    if at != end:
        raise Malformed("the slots do not fill their size")
    for kind, body in slots:
        if kind == 0 or kind >= 0x80:
            raise Unsupported(f"unsupported slot type {kind:02x}")
        if len(body) != BODY_SIZES.get(kind, len(body)):
            raise Malformed("wrong size of a slot")
    kinds = [kind for kind, _ in slots]
    if kinds.count(PASSPHRASE) > 1 or (PASSPHRASE in kinds and (X25519 in kinds or XWING in kinds)):
        raise Malformed("two passphrase slots, or one along with a public-key slot")
    if len(data) < end + 32 + 24 + 32:
        raise Malformed("the message is short")
    return slots, end


def unwrap(slot, key, passphrase, identity, pq_identity=None):
    """The file key, or None if the slot is for another secret."""
    kind, body = slot
    if kind == KEY_FILE and key is not None:
        kek = key_file_kek(key, body[:16])
    elif kind == PASSPHRASE and passphrase is not None:
        if not 10 <= body[0] <= 20 or body[1:3] != b"\x08\x01":
            raise Malformed("scrypt parameters refused")
        kek = passphrase_kek(passphrase, body[3:19], *body[:3])
    elif kind == X25519 and identity is not None:
        kek = x25519_kek(identity, body[:32], body[:32], public_key(identity))
    elif kind == XWING and pq_identity is not None:
        kek = opening_xwing_kek(pq_identity, body[:-48])
    else:
        return None
    if kek is None:
        return None
    try:
        return AESGCM(kek).decrypt(bytes(12), body[-48:], b"")
    except InvalidTag:
        return None


def open_header(data, key=None, passphrase=None, identity=None, pq_identity=None, **suites):
    """The file key, and the size of the header with its MAC."""
    slots, end = parse_header(data, **suites)
    unwrapped = False
    for slot in slots:
        file_key = unwrap(slot, key, passphrase, identity, pq_identity)
        if file_key is None:
            continue
        unwrapped = True
        if constant_time.bytes_eq(header_mac(file_key, data[:end]), data[end : end + 32]):
            return file_key, end + 32
    raise Malformed("a slot unwraps, but the header MAC differs") if unwrapped else WrongSecret("no slot unwraps")


def open_sealed(data, label=b"", **secret):
    file_key, end = open_header(data, **secret)
    return open_message(file_key, data[:17] + label, data[end:], Malformed, end, data[16])
