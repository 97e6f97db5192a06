"""Reads files in the form of the kit, which tests/kit/README.md describes."""

import hashlib
import os
import pathlib

import sealed_format as sf
from programs import expect_same, secret_file, some_bytes

STATUS = {"success": 0, "unsupported": 1, "wrong secret": 3, "damaged": 4}
PATTERN = some_bytes(50000)  # its beginning is the plaintext of each file


def hashes_of_beginnings():
    digest = hashlib.sha256()
    for length in range(len(PATTERN) + 1):
        yield digest.hexdigest(), length
        digest.update(PATTERN[length : length + 1])


LENGTHS = dict(hashes_of_beginnings())


def private_key(identity):
    """The private key in the text of an identity."""
    digits = identity.lower().rpartition("1")[2][:-6]
    return int("".join(f"{sf.DIGITS.index(digit):05b}" for digit in digits)[:256], 2).to_bytes(32, "big")


class Vector:
    """A file, its secret, and what readers are expected to do. released: how much plaintext readers of pipes and of files
    may release."""

    def __init__(self, path):
        self.name = path.name
        head, _, self.data = path.read_bytes().partition(b"\n\n")
        lines = [line.split(b": ", 1) for line in head.split(b"\n")]
        fields = {name.decode(): value for name, value in lines}
        self.status = STATUS[fields["expect"].decode()]
        released = LENGTHS[fields["payload"].decode()] if "payload" in fields else 0
        seeking = fields.get("payload when seeking")
        self.released = {"pipe": released, "file": LENGTHS[seeking.decode()] if seeking else released}
        self.files = [value.decode().split() for name, value in lines if name == b"file"]
        self.label = fields.get("label", b"")
        self.kind, self.text = next((kind, fields[kind]) for kind in ("key", "passphrase", "identity") if kind in fields)
        self.is_post_quantum = self.text.startswith(b"AGE-SECRET-KEY-PQ-")
        self.is_armored = self.name.startswith("armor")

    @property
    def suite(self):
        return self.data[16] if len(self.data) > 16 else None

    @property
    def secret(self):
        """The secret as an argument of the independent implementation."""
        if self.kind == "identity":
            return {"pq_identity" if self.is_post_quantum else "identity": private_key(self.text.decode())}
        return {self.kind: bytes.fromhex(self.text.decode()) if self.kind == "key" else self.text}

    @property
    def options(self):
        """The secret and the label as options of the program."""
        option = "--passphrase-file" if self.kind == "passphrase" else "-k"
        return [option, secret_file(os.path.abspath("secret"), self.text + b"\n"),
                *(["--label", os.fsdecode(self.label)] if self.label else [])]

    def write_directory(self, name):
        os.mkdir(name, 0o700)
        at = 0
        for file, size in self.files:
            secret_file(f"{name}/{file}", self.data[at : at + int(size)])
            at += int(size)
        assert at == len(self.data)

    def expect(self, via, status, plaintext, exact=True):
        """That a reader of a pipe or a file has this exit status, and released what it may. exact: and not less."""
        assert (self.name, via, status) == (self.name, via, self.status)
        expect_same(PATTERN[: len(plaintext)], plaintext, f"{self.name}, {via}")
        released = self.released[via]
        assert len(plaintext) == released or (len(plaintext) < released and status and not exact), (self.name, via)


def read(folder):
    return [Vector(path) for path in sorted(pathlib.Path(folder).iterdir())]
