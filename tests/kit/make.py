#!/usr/bin/env python3
"""Makes the kit: files in the sealed format that a reader must open, and files that it must refuse. README.md describes
their form.

    make.py FOLDER

Uses the independent implementation in tests/cli/support, not the programs. The kit is the same each time: the random
bytes in each file are those of one fixed stream."""

import hashlib
import io
import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "cli/support"))

import headers  # noqa: E402
import messages  # noqa: E402
import parts  # noqa: E402
import sealed_format as sf  # noqa: E402
import slots  # noqa: E402
from common import PATTERN  # noqa: E402


def restart_random_bytes():
    os.urandom = io.BytesIO(hashlib.shake_256(b"gpuaes-stream kit").digest(1 << 17)).read


def lines_of_secrets(key=None, passphrase=None, identity=None, pq_identity=None, label=None):
    if key:
        yield "key", key.hex()
    if passphrase:
        yield "passphrase", passphrase
    if identity:
        yield "identity", sf.to_text(sf.IDENTITY, identity)
    if pq_identity:
        yield "identity", sf.to_text(sf.PQ_IDENTITY, pq_identity)
    if label:
        yield "label", label


class Kit:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        restart_random_bytes()

    def add(self, name, comment, data, released, expect="success", seeking=None, files=(), **secrets):
        """released: how many bytes of plaintext a reader may release. seeking: the same for one that begins with the
        index, if different. files: names and sizes, for a directory."""
        lines = [("expect", expect)]
        if released or expect == "success":
            lines.append(("payload", hashlib.sha256(PATTERN[:released]).hexdigest()))
        if seeking not in (None, released):
            lines.append(("payload when seeking", hashlib.sha256(PATTERN[:seeking]).hexdigest()))
        lines += lines_of_secrets(**secrets)
        lines += [("file", f"{file} {size}") for file, size in files]
        lines.append(("comment", comment))
        with open(self.folder / name, "xb") as file:
            for field, value in lines:
                file.write(b"%b: %b\n" % (field.encode(), value if isinstance(value, bytes) else value.encode()))
            file.write(b"\n" + data)
        restart_random_bytes()


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make.py FOLDER")
    kit = Kit(sys.argv[1])
    for group in slots, headers, messages, parts:
        group.add_to(kit)


if __name__ == "__main__":
    main()
