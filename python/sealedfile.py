"""Reads sealed files and age files in Python, or ranges of them, wherever they are. Needs the package cryptography.

    import gpuaes_stream  # from the wheel; otherwise, this file is the module sealedfile

    with gpuaes_stream.SealedFile("photos.zip.sealed", key="backup.key") as file:
        zipfile.ZipFile(file).extract("photos/2.jpg")

Opens sealed files with AES (suites 01 and 03), for a key file, an X25519 recipient or a passphrase, as gpuaes-stream(5)
describes, and age files for the last two, as https://c2sp.org/age describes. Kuznyechik and post-quantum recipients are
not supported.

As a program, it writes the plaintext to standard output:

    python3 sealedfile.py -k FILE [--label TEXT] SEALED >PLAIN
    python3 sealedfile.py -p [--label TEXT] <SEALED >PLAIN

SEALED can also be a directory that gpuaes-parts made and joined, or the URL of a file or directory, which the package
fsspec reads. Input from a pipe is copied to a temporary file, as
the end is verified before anything is written. Remove armor first:

    sed '/^-----/d' ARMORED | base64 -d

Writes only verified plaintext, which is complete if the exit status is 0."""

from __future__ import annotations

import argparse
import base64
import bisect
import contextlib
import errno
import functools
import getpass
import hmac
import io
import itertools
import os
import re
import shutil
import signal
import stat
import struct
import sys
import tempfile
import threading
import warnings
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256, SHA512
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

__all__ = ["NotAuthentic", "NotSupported", "SealedFile", "SealedFileError", "WrongKey"]

KEY_FILE, PASSPHRASE, X25519, XWING = 1, 2, 3, 4  # types of slots, and kinds of secrets
BODY_SIZES = {KEY_FILE: 64, PASSPHRASE: 67, X25519: 80, XWING: 1168}
MAGIC, AGE_MAGIC = b"gpuaes-stream/1\n", b"age-encryption.org/"
WHOLE, PARTS = 1, 3  # suites
PART, INDEX = 1, 2  # kinds of frames
SEGMENT, AGE_SEGMENT, TAG = 1 << 14, 1 << 16, 16
MAX_PARTS, MAX_PASSPHRASE = 1 << 20, 1 << 10
MAX_AGE_STANZAS, MAX_AGE_LINE = 1 << 10, 1 << 16
AGE_HEADERS = 1 << 12, 1 << 16, 1 << 20, 1 << 24  # bytes to read, until they contain the header

HEAD, TAIL = 1 << 12, 1 << 17  # bytes at both ends of the source that are read first, and kept
STEP, STEP_OF_FUNCTION = 1 << 18, 1 << 24  # plaintext to read at once: fits into the cache, or needs few requests
KEPT = 16  # segments, and keys of parts

Secrets = List[Tuple[int, Any]]  # an Identity, or bytes


class SealedFileError(OSError):
    """A file cannot be opened or read."""


class WrongKey(SealedFileError):
    """The key or the passphrase does not open the file."""


class NotAuthentic(SealedFileError):
    """The file is malformed, modified or truncated, or its source did not return what it should."""


class NotSupported(SealedFileError):
    """The file or the key is of a kind that this module does not support."""


def check(condition: object, what: str) -> None:
    if not condition:
        raise NotAuthentic(what)


# --- Where the bytes of a sealed file come from ----------------------------------------------------------------------


class Source(NamedTuple):
    read_range: Callable[[int, int], Any]  # offset, length
    size: int
    step: int = STEP
    close: Callable[[], None] = lambda: None
    begins: Optional[List[int]] = None  # of the files in a directory
    with_parts: Callable[[List[str]], Any] = lambda attempts: None  # of a directory: the source that also has its parts


def open_at_once(name: Any, flags: int) -> int:
    """Opens without waiting. A FIFO that has no writer reads as empty."""
    descriptor = os.open(name, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(descriptor, True)
    return descriptor


def size_of(name: Any, descriptor: Optional[int] = None) -> int:
    """The size of a regular file, and 0 for a block device. OSError if the file cannot seek."""
    status = os.stat(name if descriptor is None else descriptor)
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISBLK(status.st_mode):
        raise OSError(errno.ESPIPE, "Not a regular file", name)
    return status.st_size


def open_seekable(name: Any, flags: int) -> int:
    descriptor = open_at_once(name, flags)
    try:
        size_of(name, descriptor)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def range_reader(file: Any) -> Callable[[int, int], bytes]:
    lock = threading.Lock()

    def read_range(offset: int, length: int) -> bytes:
        data = b""
        with lock:
            file.seek(offset)
            while len(data) < length:
                more = file.read(length - len(data))
                if not more:
                    break
                data = data + more if data else bytes(more)
        return data

    return read_range


def pread_all(file: Any, offset: int, length: int) -> bytes:
    data = os.pread(file.fileno(), length, offset)
    while 0 < len(data) < length:  # some file systems return less
        more = os.pread(file.fileno(), length - len(data), offset + len(data))
        if not more:
            break
        data += more
    return data


def open_source(source: Any, size: Optional[int], filesystem: Any) -> Source:
    if filesystem is not None or isinstance(source, str) and "://" in source:
        return open_remote(source, size, filesystem)
    if isinstance(source, (str, os.PathLike)):
        if os.path.isdir(source):
            return open_directory(os.fspath(source), lambda names: [*map(size_of, names)], read_local)
        file = open(source, "rb", buffering=0, opener=open_seekable)
        size = file.seek(0, os.SEEK_END)
        if not hasattr(os, "pread"):
            return Source(range_reader(file), size, close=file.close)
        # Processes that share the file also share its position, so this does not depend on it.
        return Source(functools.partial(pread_all, file), size, close=file.close)
    if hasattr(source, "seek"):
        source.seek(0, os.SEEK_END)
        return Source(range_reader(source), source.tell())
    if size is None:
        raise ValueError("a function as the source needs the size")
    return Source(source, size, STEP_OF_FUNCTION)


def open_remote(name: str, size: Optional[int], filesystem: Any) -> Source:
    """A file or a directory in a file system of fsspec. A URL that ends in / is that of a directory."""
    path = name
    if filesystem is None:
        try:
            from fsspec.core import url_to_fs
            filesystem, path = url_to_fs(name)
        except ImportError as error:
            raise NotSupported(f"a package that reads this URL is not installed: {error}") from None

    def check_ranges(supported: object) -> None:
        if not supported:
            raise OSError(errno.ESPIPE, "The server does not send ranges; simplecache::URL copies the file first", name)

    def read_range(path: str, offset: int, length: int) -> bytes:
        data = filesystem.cat_file(path, start=offset, end=offset + length)
        check_ranges(len(data) <= length)
        return data

    if not name.endswith("/"):
        info = filesystem.info(path) if size is None else {"type": "file", "size": size}
        if info["type"] != "directory":
            check_ranges(info["size"] is not None)
            return Source(functools.partial(read_range, path), info["size"], STEP_OF_FUNCTION)
    listed: Dict[str, int] = {}
    filesystem.invalidate_cache(path)
    try:
        listed.update((info["name"], info["size"]) for info in filesystem.ls(path) if info["size"] is not None)
    except Exception:  # whatever a server that lists nothing causes; then it is asked for each file
        pass

    def sizes_of(paths: List[str]) -> List[int]:
        unknown = [path for path in paths if path not in listed]
        listed.update(zip(unknown, filesystem.sizes(unknown)))
        check_ranges(None not in listed.values())
        return [listed[path] for path in paths]

    return open_directory(path, sizes_of, read_range, STEP_OF_FUNCTION)


def read_local(name: str, offset: int, length: int) -> bytes:
    with open(name, "rb", opener=open_seekable) as file:
        file.seek(offset)
        return file.read(length)


def open_directory(directory: str, sizes_of: Callable[[List[str]], List[int]],
                   read: Callable[[str, int, int], bytes], step: int = STEP) -> Source:
    """Its files, one after another, are a file made of parts. Until the index is verified, it is not known how many
    parts there are, and the source has only the head and the index. Parts are named after their numbers or, if they are
    objects, also after the attempts that the index lists."""

    def source_of(*names: str) -> Source:
        files = [f"{directory.rstrip('/')}/{name}" for name in names]
        *begins, size = itertools.accumulate([0, *sizes_of(files)])

        def read_range(offset: int, length: int) -> bytes:
            data = bytearray()
            while len(data) < length:
                at = offset + len(data)
                number = bisect.bisect_right(begins, at) - 1
                end = size if number + 1 == len(begins) else begins[number + 1]
                more = read(files[number], at - begins[number], min(length - len(data), end - at))
                check(more, f"{files[number]} was truncated")
                data += more
            return bytes(data)

        return Source(read_range, size, step, begins=begins, with_parts=with_parts)

    def with_parts(attempts: List[str]) -> Source:
        numbers = [f"part.{number:07}" for number in range(len(attempts))]
        try:
            return source_of("head", *numbers, "index")
        except FileNotFoundError as error:
            with contextlib.suppress(FileNotFoundError):
                return source_of("head", *map(".".join, zip(numbers, attempts)), "index")
            raise missing(error) from None

    def missing(error: FileNotFoundError) -> NotAuthentic:
        return NotAuthentic(f"{error.filename or error} is missing")

    try:
        return source_of("head", "index")
    except FileNotFoundError as error:
        raise missing(error) from None


# --- Secrets ---------------------------------------------------------------------------------------------------------


class Identity(NamedTuple):
    private: X25519PrivateKey
    public: bytes


def parse_identity(text: str) -> Identity:
    """An X25519 identity: Bech32, BIP 173."""
    prefix, digits = "age-secret-key-", "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    if text not in (text.lower(), text.upper()) or not re.fullmatch(f"{prefix}1[{digits}]{{58}}", text.lower()):
        raise ValueError("the identity has the wrong length or a wrong character")
    values = [digits.index(c) for c in text.lower()[len(prefix) + 1 :]]
    state = 1
    for value in [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix] + values:
        top, state = state >> 25, (state & 0x1FFFFFF) << 5 ^ value
        for i, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            state ^= generator * (top >> i & 1)
    number = int("".join(f"{value:05b}" for value in values[:-6]), 2)
    if state != 1 or number % 16 != 0:
        raise ValueError("the checksum of the identity is wrong: it has a typing error")
    private = X25519PrivateKey.from_private_bytes((number >> 4).to_bytes(32, "big"))
    return Identity(private, private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))


def parse_key_file(content: bytes) -> Secrets:
    if content.startswith((MAGIC, AGE_MAGIC, b"-----BEGIN ")):
        raise NotSupported("encrypted key files and SSH keys are not supported")
    lines = [line.strip(b" \t\r") for line in content.split(b"\n")]
    lines = [line for line in lines if line and not line.startswith(b"#")]
    if lines and re.match(rb"(?i)age-(secret-key|plugin)-", lines[0]):
        lines = [line for line in lines if not re.match(rb"(?i)age-(secret-key-pq|plugin)-", line)]
        if not lines:
            raise NotSupported("post-quantum identities and those of plugins are not supported")
        return [(X25519, parse_identity(line.decode("ascii", "replace"))) for line in lines]
    text = content.rstrip(b" \t\r\n")
    if re.fullmatch(rb"[0-9a-fA-F]{64}", text):
        return [(KEY_FILE, bytes.fromhex(text.decode()))]
    if len(content) != 32:
        raise ValueError("the key file contains neither a key of 32 bytes nor an identity")
    return [(KEY_FILE, content)]


def read_secrets(key: Any, passphrase: Union[str, bytes, None]) -> Secrets:
    if (key is None) == (passphrase is None):
        raise ValueError("either a key or a passphrase is needed")
    if passphrase is not None:
        secret = passphrase.encode() if isinstance(passphrase, str) else bytes(passphrase)
        if not 1 <= len(secret) <= MAX_PASSPHRASE:
            raise ValueError("a passphrase has 1 to 1024 bytes")
        return [(PASSPHRASE, secret)]
    if isinstance(key, (str, os.PathLike)):
        with open(key, "rb", opener=open_at_once) as file:
            key = file.read(1 << 20)
    return parse_key_file(bytes(key))


def exchange(identity: Identity, share: bytes) -> bytes:
    """The shared secret of X25519. ValueError if it is zero."""
    return identity.private.exchange(X25519PublicKey.from_public_bytes(share))


# --- The header of a sealed file -------------------------------------------------------------------------------------


def sealed_header_size(head: bytes) -> int:
    """Through the MAC. head: the beginning of the header."""
    if re.match(rb"gpuaes-stream/([02-9]\n|[1-9]\d)", head):
        raise NotSupported("versions of the sealed format other than 1 are not supported")
    if re.match(rb"\s*-----BEGIN ", head):
        raise NotSupported("armor is not supported: remove it first")
    check(head.startswith(MAGIC), "the input is neither a sealed file nor an age file")
    if len(head) > 16 and head[16] not in (WHOLE, PARTS):
        raise NotSupported(f"suite {head[16]:02x} is not supported")
    check(len(head) >= 20, "the input is truncated")
    return 52 + int.from_bytes(head[18:20], "big")


def split_slots(count: int, data: bytes) -> List[Tuple[int, bytes]]:
    """The type and the body of each slot."""
    slots: List[Tuple[int, bytes]] = []
    while data:
        check(len(slots) < count <= 32, "the number of slots is wrong")
        check(len(data) >= 3, "the slots are damaged")
        kind, size = struct.unpack(">BH", data[:3])
        check(size <= len(data) - 3, "the slots are damaged")
        slots.append((kind, data[3 : 3 + size]))
        data = data[3 + size :]
    check(1 <= len(slots) == count, "the number of slots is wrong")
    for kind, body in slots:
        if kind == 0 or kind >= 0x80:
            raise NotSupported("the input has slots of a type that is not supported")
        check(len(body) == BODY_SIZES.get(kind, len(body)), "the slots are damaged")
    kinds = [kind for kind, _ in slots]
    check(PASSPHRASE not in kinds or kinds.count(PASSPHRASE) == 1 and not {X25519, XWING} & {*kinds},
          "a passphrase slot excludes some of the other slots")
    return slots


def slot_kek(kind: int, secret: Any, body: bytes) -> Optional[bytes]:
    """The key-encryption key of a slot, or None if the slot cannot be for this secret."""
    if kind == KEY_FILE:
        return HKDF(SHA512(), 32, body[:16], b"gpuaes-stream/1 key file").derive(secret)
    if kind == PASSPHRASE:
        log_n, r, p = body[:3]
        check(10 <= log_n <= 20 and (r, p) == (8, 1), "the passphrase slot has scrypt parameters that are out of range")
        return Scrypt(b"gpuaes-stream/1 passphrase" + body[3:19], 32, 1 << log_n, r, p).derive(secret)
    if int.from_bytes(body[:32], "little") >= 2**255 - 19:
        return None
    try:
        shared = exchange(secret, body[:32])
    except ValueError:
        return None
    return HKDF(SHA512(), 32, body[:32] + secret.public, b"gpuaes-stream/1 x25519").derive(shared)


def open_slots(header: bytes, secrets: Secrets) -> bytes:
    """The file key."""
    slots, unwrapped = split_slots(header[17], header[20:-32]), False
    for kind, secret in secrets:
        for body in [body for slot_kind, body in slots if slot_kind == kind]:
            kek = slot_kek(kind, secret, body)
            if kek is None:
                continue
            try:
                file_key = AESGCM(kek).decrypt(bytes(12), body[-48:], None)
            except InvalidTag:
                continue
            unwrapped = True
            mac_key = HKDFExpand(SHA512(), 64, b"gpuaes-stream/1 header").derive(file_key)
            if hmac.compare_digest(hmac.new(mac_key, header[:-32], "sha512").digest()[:32], header[-32:]):
                return file_key
    check(not unwrapped, "the header is damaged")
    untried = [f"slot {i}" for i, (kind, _) in enumerate(slots, 1) if kind not in (KEY_FILE, PASSPHRASE, X25519)]
    if untried:
        raise WrongKey(f"the secret opens no slot that is supported; not tried: {', '.join(untried)}")
    raise WrongKey("the secret opens no slot")


# --- The header of an age file ---------------------------------------------------------------------------------------

AGE_VERSION = b"age-encryption.org/v1\n"
ARGUMENTS = re.compile(rb"-> [!-~]+(?: [!-~]+){0,63}")
BODY = re.compile(rb"[A-Za-z0-9+/\n]*")
MAC_LINE = re.compile(rb"--- [A-Za-z0-9+/]{43}")
AGE_KINDS = {b"X25519": X25519, b"scrypt": PASSPHRASE}
MALFORMED = "the header is malformed, too long or truncated"


class AgeHeader(NamedTuple):
    text: bytes
    stanzas: List[Tuple[List[bytes], bytes]]  # arguments, and the body in Base64


def parse_age_header(data: bytes) -> Optional[AgeHeader]:
    """The header at the beginning of the data, or None if it does not end there. Stops where it is malformed."""
    version = re.match(rb"age-encryption\.org/([!-~]{1,100})\n", data)
    if version and version[1] != b"v1":
        raise NotSupported("versions of age files other than 1 are not supported")
    check(data.startswith(AGE_VERSION), MALFORMED)
    stanzas: List[Tuple[List[bytes], bytes]] = []
    begin = len(AGE_VERSION)
    while True:
        end = data.find(b"\n", begin, begin + MAX_AGE_LINE + 1)
        if end < 0:
            check(len(data) - begin <= MAX_AGE_LINE, MALFORMED)
            return None
        line, begin = data[begin:end], end + 1
        if MAC_LINE.fullmatch(line):
            check(stanzas, MALFORMED)
            return AgeHeader(data[:begin], stanzas)
        check(ARGUMENTS.fullmatch(line) and len(stanzas) < MAX_AGE_STANZAS, MALFORMED)
        body = BODY.match(data, begin)[0]  # type: ignore[index]
        ends = body[64::65]  # of all lines but the last, which is shorter
        check(ends == b"\n" * len(ends), MALFORMED)
        begin += len(body)
        if begin == len(data):
            return None
        check(body.endswith(b"\n") and body.count(b"\n") == len(ends) + 1, MALFORMED)
        stanzas.append((line[3:].split(b" "), body.replace(b"\n", b"")))


def from_base64(text: bytes) -> bytes:
    """Without padding. Refuses what an encoder would not write."""
    try:
        data = base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except ValueError:
        data = b""
    check(base64.b64encode(data).rstrip(b"=") == text, "a stanza is malformed")
    return data


def parse_stanza(kind: int, arguments: List[bytes], body: bytes) -> Tuple[bytes, int, bytes]:
    """Share or salt, the work factor of scrypt, and the wrapped file key."""
    check(len(arguments) == (2 if kind == PASSPHRASE else 1) and len(body) == 32, "a stanza is malformed")
    first = from_base64(arguments[0])
    check(len(first) == (16 if kind == PASSPHRASE else 32), "a stanza is malformed")
    check(kind == X25519 or re.fullmatch(rb"[1-9]|1\d|2[0-2]", arguments[1]), "the scrypt parameters are out of range")
    return first, int(arguments[1]) if kind == PASSPHRASE else 0, body


def stanza_kek(kind: int, secret: Any, first: bytes, log_n: int) -> bytes:
    if kind == PASSPHRASE:
        return Scrypt(b"age-encryption.org/v1/scrypt" + first, 32, 1 << log_n, 8, 1).derive(secret)
    try:
        shared = exchange(secret, first)
    except ValueError:
        raise NotAuthentic("a stanza is malformed") from None
    return HKDF(SHA256(), 32, first + secret.public, b"age-encryption.org/v1/X25519").derive(shared)


def open_stanzas(header: AgeHeader, secrets: Secrets) -> bytes:
    """The file key. All stanzas of the kinds of the secrets are checked before any is tried."""
    found = [(arguments, from_base64(body)) for arguments, body in header.stanzas]
    types = [arguments[0] for arguments, _ in found]
    check(b"scrypt" not in types or len(types) == 1, "a passphrase stanza excludes all others")
    stanzas = {kind: [parse_stanza(kind, arguments[1:], body) for arguments, body in found
                      if AGE_KINDS.get(arguments[0]) == kind] for kind, _ in secrets}
    for kind, secret in secrets:
        for first, log_n, body in stanzas[kind]:
            try:
                file_key = ChaCha20Poly1305(stanza_kek(kind, secret, first, log_n)).decrypt(bytes(12), body, None)
            except InvalidTag:
                continue
            mac_key = HKDF(SHA256(), 32, b"", b"header").derive(file_key)
            mac = hmac.new(mac_key, header.text[:-45], "sha256").digest()
            check(hmac.compare_digest(mac, from_base64(header.text[-44:-1])), "the header is damaged")
            return file_key
    if not AGE_KINDS.keys() & {*types}:
        raise NotSupported(f"stanzas of type {b', '.join(sorted({*types})).decode()} are not supported")
    raise WrongKey("the secret opens no stanza")


# --- Segments --------------------------------------------------------------------------------------------------------


class Message:
    """Segments, back to back: of a sealed file, a part or an age file.
    at: where they begin in the file. begin: where the plaintext begins."""

    def __init__(self, aead: Any, nonce: Callable[[int], bytes],
                 segment: int, count: int, at: int, length: int, begin: int):
        self.aead, self.nonce = aead, nonce
        self.segment, self.count, self.at = segment, count, at
        self.length, self.begin = length, begin

    def decrypt(self, number: int, data: bytes) -> List[bytes]:
        """The plaintext of the segments in data. number: of the first one."""
        plain, size = [], self.segment + TAG
        for at in range(0, len(data), size):
            nonce, segment = self.nonce(number), data[at : at + size]
            try:
                plain.append(self.aead.decrypt(nonce, segment, None))
            except InvalidTag:
                what = f"segment {number} is not authentic"
                raise NotAuthentic(what) from None
            number += 1
        return plain


def sealed_message(file_key: bytes, context: bytes, salt: bytes,
                   commitment: bytes, at: int, length: int,
                   begin: int = 0) -> Message:
    info = b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0"
    keys = HKDFExpand(SHA512(), 76, info + salt + context).derive(file_key)
    check(hmac.compare_digest(keys[44:], commitment),
          "the label is wrong, or the file is damaged")
    base = int.from_bytes(keys[32:44], "big")

    def nonce(number: int) -> bytes:
        return (base ^ number).to_bytes(12, "big")

    return Message(AESGCM(keys[:32]), nonce, SEGMENT,
                   length // SEGMENT + 1, at, length, begin)


def frame_size(length: int) -> int:
    return 73 + length + TAG * (length // SEGMENT + 1)


class SealedFile(io.RawIOBase):
    """The plaintext of a sealed file or an age file, as a binary file that can seek.

    source: the name or the URL of a file, or of a directory that gpuaes-parts made; a binary file that can seek; or a
        function read_range(offset, length) that returns these bytes of an object, whose size is then needed.
    key: the name of a key file or an identity file, or its contents as bytes.
    passphrase: instead of a key. Neither is kept, but Python does not wipe its memory.
    label: that of a sealed file, if it has one.
    header: used instead of the file's own, to open it with another key; made with `gpuaes-stream --rekey`.
    filesystem: one of fsspec, to which the name belongs.

    The end of the file is verified first, so a truncated one cannot be opened. Each segment is verified before any of it is
    returned. If another file replaces it at its source, reads return the old contents or raise NotAuthentic; open it again
    to read the new ones. Only a few segments are kept in memory. If the source is slow and reads are small, use
    io.BufferedReader(file, 1 << 20). Threads can share a SealedFile; with read_at(), they do not wait for each other.

    Raises a SealedFileError for what is wrong with the file, and ValueError for a malformed key."""

    _source = Source(lambda offset, length: b"", 0)  # until __init__ has opened one

    def __init__(self, source: Any, size: Optional[int] = None, *, key: Any = None,
                 passphrase: Union[str, bytes, None] = None, label: str = "", header: Optional[bytes] = None,
                 filesystem: Any = None) -> None:
        secrets, self._label = read_secrets(key, passphrase), label.encode()
        if len(self._label) > 255:
            raise ValueError("a label has at most 255 bytes")
        self._position = 0
        self._position_lock = threading.Lock()
        self._kept: Dict[Tuple[int, int], bytes] = {}  # segments: where their messages begin, numbers; never modified
        self._ends: List[Tuple[int, bytes]] = []  # offsets in the source
        self._source = open_source(source, size, filesystem)
        try:
            self._open(secrets, header)
        except BaseException:
            self.close()
            raise

    def _open(self, secrets: Secrets, given: Optional[bytes]) -> None:
        """Sets size, and _message_at: the message that contains an offset of the plaintext."""
        tail = max(0, self._source.size - TAIL)
        self._ends.append((tail, self._range(tail, self._source.size - tail)))
        head = self._range(0, min(HEAD, self._source.size))
        self._ends.append((0, head))
        same = len(AGE_MAGIC) if head.startswith(AGE_MAGIC) else 17  # magic, and of a sealed file the suite
        check(given is None or given[:same] == head[:same], "the given header is that of another file")
        if head.startswith(AGE_MAGIC) and self._source.begins is None:
            return self._open_message(self._age_message(secrets, given))
        at = sealed_header_size(head)
        header = self._range(0, at) if given is None else given[: sealed_header_size(given)]
        check(len(header) == sealed_header_size(header), "the given header is truncated")
        split_slots(header[17], header[20:-32])  # what is wrong with slots is reported before what follows them
        if head[16] == PARTS:
            return self._open_parts(header, at, secrets)
        check(self._source.begins is None, "the directory is not a file made of parts")
        size = self._source.size - at - 56
        check(size % (SEGMENT + TAG) >= TAG, "the input is truncated")
        length = size - TAG * (size // (SEGMENT + TAG) + 1)
        salt, commitment = self._range(at, 24), self._range(at + 24, 32)
        file_key = open_slots(header, secrets)  # after all checks that need no key, as scrypt can take seconds
        self._open_message(sealed_message(file_key, header[:17] + self._label, salt, commitment, at + 56, length))

    def _open_message(self, message: Message) -> None:
        self.size, self._message_at = message.length, lambda offset: message
        self._segments(message, message.count - 1, message.length + 1)

    def _age_message(self, secrets: Secrets, given: Optional[bytes]) -> Message:
        if self._label:
            raise ValueError("the input is an age file, which has no label")
        headers = (parse_age_header(self._range(0, min(size, self._source.size))) for size in AGE_HEADERS)
        own = next(filter(None, headers), None)
        header = own if given is None else parse_age_header(given)
        if own is None or header is None:
            raise NotAuthentic(MALFORMED)
        at = len(own.text) + 16
        size = self._source.size - at
        last = max(0, size - 1) // (AGE_SEGMENT + TAG)
        length = size - TAG * (last + 1)
        check(length >= last * AGE_SEGMENT + (last > 0), "the input is truncated")  # only the first may be empty
        key = HKDF(SHA256(), 32, self._range(at - 16, 16), b"payload").derive(open_stanzas(header, secrets))
        return Message(ChaCha20Poly1305(key), lambda i: i.to_bytes(11, "big") + bytes([i == last]),
                       AGE_SEGMENT, last + 1, at, length, 0)

    def _open_parts(self, header: bytes, at: int, secrets: Secrets) -> None:
        size, in_directory = self._source.size, self._source.begins is not None
        count = int.from_bytes(self._range(size - 8, 8), "big")
        index_at = size - 8 - frame_size(40 * count)
        fits = self._source.begins == [0, at] == [0, index_at] if in_directory else at + 89 * count <= index_at
        check(1 <= count <= MAX_PARTS and fits, "the index is missing or damaged")

        def frame_header(at: int, fields: Tuple[int, int, int, int], entry: bytes = b"") -> bytes:
            header = self._range(at, 73)
            listed = not entry or entry == header[9:17] + header[41:]
            check(header[:17] == struct.pack(">BIIQ", *fields) and listed,
                  f"part {fields[1]} is missing or damaged" if entry else "the index is missing or damaged")
            return header

        def message(frame: bytes, at: int, begin: int = 0) -> Message:
            context, length = header[:17] + frame[:9] + self._label, int.from_bytes(frame[9:17], "big")
            return sealed_message(file_key, context, frame[17:41], frame[41:], at + 73, length, begin)

        frame = frame_header(index_at, (INDEX, count, count, 40 * count))
        file_key = open_slots(header, secrets)
        index = message(frame, index_at)
        entries = b"".join(self._pieces(lambda offset: index, 0, index.length))
        lengths = [length for length, in struct.iter_unpack(">Q32x", entries)]
        begins = list(itertools.accumulate([0, *lengths]))
        ats = list(itertools.accumulate([at, *map(frame_size, lengths)]))
        if in_directory:
            self._source = self._source.with_parts([entries[at : at + 32].hex() for at in range(8, len(entries), 40)])
            self._ends, self._kept = [], {}  # offsets in the source have another meaning now
            check(self._source.begins == [0, *ats], "a part has the wrong size")
        of = int.from_bytes(self._range(at + 5, 4), "big")
        check((in_directory or ats[-1] == index_at) and of in (0, count), "the parts do not match the index")

        @functools.lru_cache(KEPT)
        def part(number: int) -> Message:
            entry = entries[40 * number : 40 * number + 40]
            frame = frame_header(ats[number], (PART, number, of, lengths[number]), entry)
            return message(frame, ats[number], begins[number])

        def part_at(offset: int) -> Message:
            number = bisect.bisect_right(begins, offset) - 1
            verify_empty_parts(bisect.bisect_left(begins, offset), number)
            return part(number)

        def verify_empty_parts(first: int, end: int) -> None:
            for number in range(first, end):
                self._segments(part(number), 0, 1)

        self.size, self._message_at = begins[-1], part_at
        verify_empty_parts(bisect.bisect_left(begins, self.size), count)

    def _range(self, offset: int, length: int) -> bytes:
        """Bytes of the source."""
        check(offset + length <= self._source.size, "the input is truncated")
        for begin, data in self._ends:
            if begin <= offset and offset + length <= begin + len(data):
                return data[offset - begin : offset - begin + length]
        data = bytes(memoryview(self._source.read_range(offset, length)))  # not bytes(5), which are five zeros
        check(len(data) == length, "the source returned too little or too much")
        return data

    def _segments(self, message: Message, number: int, end: int) -> List[bytes]:
        """Segments from this number on: as many as are read at once, at most to the one that contains end - 1."""
        kept = self._kept.get((message.at, number))
        if kept is not None:
            return [kept]
        count = min(-(-end // message.segment), message.count) - number
        count = min(count, self._source.step // message.segment)
        # An empty last segment is verified whenever the one before it is.
        before_empty = number + count == message.count - 1 and message.length == (message.count - 1) * message.segment
        count += before_empty
        at = message.at + number * (message.segment + TAG)
        stop = message.at + message.length + TAG * message.count
        plain = message.decrypt(number, self._range(at, min(count * (message.segment + TAG), stop - at)))
        return plain[:-1] if before_empty else plain

    def _keep(self, segments: Dict[Tuple[int, int], bytes]) -> None:
        kept = {**self._kept, **segments}
        self._kept = dict([*kept.items()][-KEPT:])

    def _pieces(self, message_at: Callable[[int], Message], begin: int, end: int) -> Iterator[bytes]:
        """The plaintext from begin to end. Keeps the first and the last segment, for reads that continue there."""
        while begin < end:
            message = message_at(begin)
            number, skip = divmod(begin - message.begin, message.segment)
            plain = self._segments(message, number, end - message.begin)
            last = number + len(plain) - 1
            at = message.begin + last * message.segment
            stop = min(end, at + len(plain[-1]))
            if skip or stop == end:
                self._keep({(message.at, number): plain[0], (message.at, last): plain[-1]})
            plain[-1] = plain[-1][: stop - at]
            plain[0] = plain[0][skip:]
            yield from plain
            begin = stop

    def read_at(self, offset: int, size: int) -> bytes:
        """The plaintext at an offset. Returns less than size bytes only at the end."""
        if self.closed or offset < 0:
            raise ValueError("the file is closed" if self.closed else "the offset is negative")
        return b"".join(self._pieces(self._message_at, offset, min(offset + size, self.size)))

    def read(self, size: Optional[int] = -1) -> bytes:
        with self._position_lock:
            data = self.read_at(self._position, self.size if size is None or size < 0 else size)
            self._position += len(data)
            return data

    def readall(self) -> bytes:
        return self.read()

    def readinto(self, buffer: Any) -> int:
        view, done = memoryview(buffer).cast("B"), 0
        with self._position_lock:
            if self.closed:
                raise ValueError("the file is closed")
            for piece in self._pieces(self._message_at, self._position, min(self._position + len(view), self.size)):
                view[done : done + len(piece)] = piece
                done += len(piece)
            self._position += done
        return done

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence not in (os.SEEK_SET, os.SEEK_CUR, os.SEEK_END):
            raise ValueError("whence is not SEEK_SET, SEEK_CUR or SEEK_END")
        with self._position_lock:
            position = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.size}[whence]
            if self.closed or position < 0:
                raise ValueError("the file is closed" if self.closed else "the position is negative")
            self._position = position
            return position

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()


# --- The program -----------------------------------------------------------------------------------------------------


def copy_of(pipe: Any) -> Any:
    """A temporary file with its contents, unless they begin like a file that cannot be opened."""
    head = pipe.read(HEAD)
    parse_age_header(head) if head.startswith(AGE_MAGIC) else sealed_header_size(head)
    copy = tempfile.TemporaryFile()
    copy.write(head)
    shutil.copyfileobj(pipe, copy)
    return copy


def main() -> None:
    parser = argparse.ArgumentParser(description="Open a sealed file or an age file, and write it to standard output.")
    secret = parser.add_mutually_exclusive_group(required=True)
    secret.add_argument("-k", metavar="FILE", help="read a key or an X25519 identity from FILE")
    secret.add_argument("-p", action="store_true", help="ask for the passphrase")
    secret.add_argument("--passphrase-file", metavar="FILE", help="read the passphrase from the first line of FILE")
    parser.add_argument("--label", default="", metavar="TEXT", help="the label of the file")
    parser.add_argument("sealed", nargs="?", metavar="SEALED", help="a file or directory, instead of standard input")
    options = parser.parse_args()
    for ends_the_program in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(ends_the_program, signal.SIG_DFL)
    warnings.simplefilter("error", getpass.GetPassWarning)  # instead of reading the passphrase from standard input
    passphrase, source = None, options.sealed or sys.stdin.buffer
    try:
        if options.p:
            passphrase = os.fsencode(getpass.getpass("Enter passphrase: "))
        elif options.passphrase_file:
            with open(options.passphrase_file, "rb", opener=open_at_once) as file:
                passphrase = file.readline(MAX_PASSPHRASE + 2).rstrip(b"\n")
        if not options.sealed and not sys.stdin.seekable():
            source = copy_of(sys.stdin.buffer)
        with SealedFile(source, key=options.k, passphrase=passphrase, label=options.label) as plain:
            del passphrase
            shutil.copyfileobj(plain, sys.stdout.buffer, 1 << 20)
        sys.stdout.buffer.flush()
    except (SealedFileError, ValueError, OSError, getpass.GetPassWarning) as error:
        sys.exit(f"{parser.prog}: error: {error}")


if __name__ == "__main__":
    main()
