"""Opens sealed files and age files without gpuaes-stream. Needs Python 3 and its package cryptography.

    python3 open-sealed.py -k FILE [--label TEXT] <SEALED >PLAIN
    python3 open-sealed.py -p [--label TEXT] <SEALED >PLAIN
    python3 open-sealed.py -k FILE [--label TEXT] DIR >PLAIN

DIR is a directory that gpuaes-parts made and joined.

Opens sealed files with AES (suites 01 and 03), for a key file, an X25519 recipient or a passphrase, as gpuaes-stream(5)
describes, and age files for the last two, as https://c2sp.org/age describes. Kuznyechik and post-quantum recipients are
not supported. Remove armor first:

    sed '/^-----/d' ARMORED | base64 -d

Needs little memory, whatever the size of the file. Writes only verified plaintext, which is complete if the exit status
is 0."""

import argparse
import base64
import getpass
import hashlib
import hmac
import os
import re
import signal
import struct
import sys
import warnings

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256, SHA512
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

KEY_FILE, PASSPHRASE, X25519, XWING = 1, 2, 3, 4  # types of slots
BODY_SIZES = {KEY_FILE: 64, PASSPHRASE: 67, X25519: 80, XWING: 1168}
WHOLE, PARTS = 1, 3  # suites
PART, INDEX = 1, 2  # kinds of frames


class Unopened(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Unopened(what)


class Input:
    """Files, one after another."""

    def __init__(self, files):
        self.files, self.file = files, next(files)

    def read(self, size):
        data = self.file.read(size)
        while len(data) < size and (file := next(self.files, None)):
            self.file.close()
            self.file = file
            data += file.read(size - len(data))
        return data


sealed = Input(iter([sys.stdin.buffer]))


def files_in(directory):
    names = os.listdir(directory)
    check("index" in names, f"{directory} is not joined")
    parts = sorted(name for name in names if re.fullmatch(r"part\.\d{7}", name))
    return (open(os.path.join(directory, name), "rb") for name in ("head", *parts, "index"))


def read(size):
    data = sealed.read(size)
    check(len(data) == size, "the input is truncated")
    return data


# The key-encryption key of a slot, or None if the slot cannot be for this secret.


def key_file_kek(key, body):
    return HKDF(SHA512(), 32, body[:16], b"gpuaes-stream/1 key file").derive(key)


def passphrase_kek(passphrase, body):
    log_n, r, p = body[:3]
    check(10 <= log_n <= 20 and (r, p) == (8, 1), "the passphrase slot has scrypt parameters that are out of range")
    return Scrypt(b"gpuaes-stream/1 passphrase" + body[3:19], 32, 1 << log_n, r, p).derive(passphrase)


def x25519_kek(identity, body):
    private, ephemeral = X25519PrivateKey.from_private_bytes(identity), body[:32]
    public = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    if int.from_bytes(ephemeral, "little") >= 2**255 - 19:
        return None
    try:
        shared = private.exchange(X25519PublicKey.from_public_bytes(ephemeral))
    except ValueError:  # the shared secret is zero
        return None
    return HKDF(SHA512(), 32, ephemeral + public, b"gpuaes-stream/1 x25519").derive(shared)


KEK = {KEY_FILE: key_file_kek, PASSPHRASE: passphrase_kek, X25519: x25519_kek}


def split_slots(count, data):
    """The type and the body of each slot."""
    slots = []
    while data:
        check(len(data) >= 3, "the slots are damaged")
        kind, size = struct.unpack(">BH", data[:3])
        check(0 < kind < 0x80 and size == BODY_SIZES.get(kind, size) <= len(data) - 3, "the slots are damaged")
        slots.append((kind, data[3 : 3 + size]))
        data = data[3 + size :]
    kinds = [kind for kind, _ in slots]
    check(1 <= len(slots) == count <= 32, "the number of slots is wrong")
    check(PASSPHRASE not in kinds or kinds.count(PASSPHRASE) == 1 and not {X25519, XWING} & {*kinds},
          "a passphrase slot excludes some of the other slots")
    return slots


def open_slots(slots, kind, secret, authenticated, mac):
    """The file key."""
    unwrapped = False
    for slot_kind, body in slots:
        kek = KEK[kind](secret, body) if slot_kind == kind else None
        if kek is None:
            continue
        try:
            file_key = AESGCM(kek).decrypt(bytes(12), body[-48:], None)
        except InvalidTag:
            continue
        unwrapped = True
        mac_key = HKDFExpand(SHA512(), 64, b"gpuaes-stream/1 header").derive(file_key)
        if hmac.compare_digest(hmac.new(mac_key, authenticated, "sha512").digest()[:32], mac):
            return file_key
    check(not unwrapped, "the header is damaged")
    untried = [f"slot {i}" for i, (slot_kind, _) in enumerate(slots, 1) if slot_kind not in KEK]
    check(not untried, f"the secret opens no slot that this program supports; it did not try {', '.join(untried)}")
    raise Unopened("the secret opens no slot")


def open_message(file_key, context, salt, commitment, size=sys.maxsize):
    """Yields the plaintext of each segment. size: of all segments."""
    info = b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0"
    keys = HKDFExpand(SHA512(), 76, info + salt + context).derive(file_key)
    check(hmac.compare_digest(keys[44:], commitment),
          "the label is wrong, or the file is damaged")
    aead, base_nonce = AESGCM(keys[:32]), int.from_bytes(keys[32:44], "big")
    segment, number = bytes(16400), 0
    while len(segment) == 16400:  # the last is shorter
        segment = sealed.read(min(16400, size))
        check(len(segment) >= 16, "the input is truncated")
        nonce = (base_nonce ^ number).to_bytes(12, "big")
        try:
            yield aead.decrypt(nonce, segment, None)
        except InvalidTag:
            raise Unopened(f"segment {number} is not authentic") from None
        size -= len(segment)
        number += 1


def open_parts(file_key, head, label):
    """Yields the plaintext of each segment of each part."""
    number, first_of, listed = 0, None, hashlib.sha512()
    while True:
        fields, salt, commitment = read(17), read(24), read(32)
        *numbers, length = struct.unpack(">BIIQ", fields)
        first_of = numbers[2] if first_of is None else first_of
        context, size = head + fields[:9] + label, length + 16 * (length // 16384 + 1)
        if numbers[0] != PART:
            break
        check(numbers == [PART, number, first_of] and number < 2**20 and length < 2**52,
              f"part {number} is missing or damaged")
        yield from open_message(file_key, context, salt, commitment, size)
        listed.update(struct.pack(">Q32s", length, commitment))
        number += 1
    check(number and first_of in (0, number) and [*numbers, length] == [INDEX, number, number, 40 * number],
          f"part {number} is missing, or the index is damaged")
    index = hashlib.sha512()
    for entries in open_message(file_key, context, salt, commitment, size):
        index.update(entries)
    check(index.digest() == listed.digest(), "the index does not match the parts")
    check(sealed.read(9) == struct.pack(">Q", number), "the end of the file is damaged, missing or extended")


def from_base64(text):
    """Without padding. Refuses what an encoder would not write."""
    data = base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    check(base64.b64encode(data).rstrip(b"=") == text, "the header is malformed")
    return data


# The key-encryption key of a stanza of an age file.


def x25519_age_kek(identity, share):
    private, public_key = X25519PrivateKey.from_private_bytes(identity), X25519PublicKey.from_public_bytes(share)
    salt = share + private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return HKDF(SHA256(), 32, salt, b"age-encryption.org/v1/X25519").derive(private.exchange(public_key))


def passphrase_age_kek(passphrase, salt, log_n):
    check(len(salt) == 16 and re.fullmatch(rb"[1-9]|1\d|2[0-2]", log_n), "the scrypt parameters are out of range")
    return Scrypt(b"age-encryption.org/v1/scrypt" + salt, 32, 1 << int(log_n), 8, 1).derive(passphrase)


AGE_KEK = {X25519: (b"X25519", 1, x25519_age_kek), PASSPHRASE: (b"scrypt", 2, passphrase_age_kek)}


def open_stanzas(stanzas, kind, secret):
    """The file key of an age file. All stanzas are checked before any is tried."""
    name, count, kek = AGE_KEK.get(kind, (None, 0, None))
    keks = []
    for arguments, body in ((arguments.split(b" "), body.replace(b"\n", b"")) for arguments, body in stanzas):
        check(arguments[0] != b"scrypt" or len(stanzas) == 1, "a passphrase stanza excludes all others")
        try:
            body = from_base64(body)
            if arguments[0] == name:
                check(len(arguments) == 1 + count and len(body) == 32, "a stanza is malformed")
                keks.append((kek(secret, from_base64(arguments[1]), *arguments[2:]), body))
        except ValueError:  # not Base64, a share of the wrong size, or a shared secret that is zero
            raise Unopened("a stanza is malformed") from None
    for key, body in keks:
        try:
            return ChaCha20Poly1305(key).decrypt(bytes(12), body, None)
        except InvalidTag:
            continue
    raise Unopened("the secret opens no stanza")


def open_age(kind, secret, header):
    """Yields the plaintext of each segment of an age file. header: the beginning of the file."""
    line, header = b"", bytearray(header)
    while not line.startswith(b"---"):
        line = sealed.file.readline(2**16 + 1)
        check(line.endswith(b"\n"), "the header is malformed or truncated")
        header += line
        check(len(header) <= 2**24, "the header is too long")
    digit, header = rb"[A-Za-z0-9+/]", bytes(header)
    stanza = rb"-> ([!-~]+(?: [!-~]+){0,63})\n((?:%b{64}\n)*%b{0,63}\n)" % (digit, digit)
    check(re.fullmatch(rb"age-encryption\.org/v1\n(%b){1,1024}--- %b{43}\n" % (stanza, digit), header),
          "the header is malformed, too long or not of version 1")
    file_key = open_stanzas(re.findall(stanza, header), kind, secret)
    mac_key = HKDF(SHA256(), 32, b"", b"header").derive(file_key)
    mac = hmac.new(mac_key, header[:-45], "sha256").digest()
    check(hmac.compare_digest(mac, from_base64(header[-44:-1])), "the header is damaged")
    aead = ChaCha20Poly1305(HKDF(SHA256(), 32, read(16), b"payload").derive(file_key))
    number, last = 0, False
    while not last:
        segment, plaintext = sealed.read(65552), None
        check(len(segment) >= 16 + (number > 0), "the input is truncated")  # only the first may be empty
        for last in (False, True) if len(segment) == 65552 else (True,):
            try:
                plaintext = aead.decrypt(number.to_bytes(11, "big") + bytes([last]), segment, None)
                break
            except InvalidTag:
                continue
        check(plaintext is not None, f"segment {number} is not authentic")
        yield plaintext
        number += 1
    check(not sealed.read(1), "the input continues after its last segment")


def open_sealed(kind, secret, label):
    """Yields the plaintext of the input, verified, in pieces."""
    head = read(20)
    if head == b"age-encryption.org/v":
        check(not label, "the input is an age file, which has no label")
        return open_age(kind, secret, head)
    magic, suite, count, size = struct.unpack(">16sBBH", head)
    check(magic == b"gpuaes-stream/1\n", "the input is neither a sealed file of version 1 nor an age file")
    check(suite in (WHOLE, PARTS), f"this program does not support suite {suite:02x}")
    slots, mac = read(size), read(32)
    file_key = open_slots(split_slots(count, slots), kind, secret, head + slots, mac)
    if suite == WHOLE:
        return open_message(file_key, head[:17] + label, read(24), read(32))
    return open_parts(file_key, head[:17], label)


def parse_identity(text):
    """The private key in an identity: Bech32, BIP 173."""
    prefix, digits = "age-secret-key-", "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    check(not text.lower().startswith(prefix + "pq-"), "this program does not support post-quantum identities")
    check(text in (text.lower(), text.upper()) and re.fullmatch(f"{prefix}1[{digits}]{{58}}", text.lower()),
          "the identity has the wrong length or a wrong character")
    values = [digits.index(c) for c in text.lower()[len(prefix) + 1 :]]
    state = 1
    for value in [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix] + values:
        top, state = state >> 25, (state & 0x1FFFFFF) << 5 ^ value
        for i, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            state ^= generator * (top >> i & 1)
    number = int("".join(f"{value:05b}" for value in values[:-6]), 2)
    check(state == 1 and number % 16 == 0, "the checksum of the identity is wrong: it has a typing error")
    return (number >> 4).to_bytes(32, "big")


def read_key(name):
    """The type of the slots that the file opens, and the secret in it."""
    with open(name, "rb") as file:
        content = file.read(65536)
    lines = [line.strip(b" \t\r") for line in content.split(b"\n")]
    lines = [line.decode(errors="replace") for line in lines if line and not line.startswith(b"#")]
    if lines and lines[0].lower().startswith("age-secret-key-"):
        check(len(lines) == 1, f"{name} has more than one line")
        return X25519, parse_identity(lines[0])
    text = content.rstrip(b" \t\r\n")
    if re.fullmatch(rb"[0-9a-fA-F]{64}", text):
        return KEY_FILE, bytes.fromhex(text.decode())
    check(len(content) == 32, f"{name} contains neither a key of 32 bytes nor an identity")
    return KEY_FILE, content


def main():
    global sealed
    parser = argparse.ArgumentParser(description="Open a sealed file or an age file, and write it to standard output.")
    secret = parser.add_mutually_exclusive_group(required=True)
    secret.add_argument("-k", metavar="FILE", help="read a key or an X25519 identity from FILE")
    secret.add_argument("-p", action="store_true", help="ask for the passphrase")
    secret.add_argument("--passphrase-file", metavar="FILE", help="read the passphrase from the first line of FILE")
    parser.add_argument("--label", default="", metavar="TEXT", help="the label of the file")
    parser.add_argument("directory", nargs="?", metavar="DIR", help="read DIR, made by gpuaes-parts, not standard input")
    options = parser.parse_args()
    for ends_the_program in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(ends_the_program, signal.SIG_DFL)
    warnings.simplefilter("error", getpass.GetPassWarning)  # instead of reading the passphrase from standard input
    try:
        if options.k:
            kind, secret = read_key(options.k)
        elif options.p:
            kind, secret = PASSPHRASE, os.fsencode(getpass.getpass("Enter passphrase: "))
        else:
            with open(options.passphrase_file, "rb") as file:
                kind, secret = PASSPHRASE, file.readline().rstrip(b"\n")
        if options.directory:
            sealed = Input(files_in(options.directory))
        for plaintext in open_sealed(kind, secret, os.fsencode(options.label)):
            sys.stdout.buffer.write(plaintext)
        sys.stdout.buffer.flush()
    except (Unopened, OSError, getpass.GetPassWarning) as error:
        sys.exit(f"{parser.prog}: error: {error}")


if __name__ == "__main__":
    main()
