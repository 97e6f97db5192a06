"""Opens the files of the test kit for age: the class of failure, and the bytes that are released. The kit is in
tests/vectors/age, from C2SP/CCTV, age/testdata, commit 1e3d286, under 0BSD, CC0 or Unlicense."""

import hashlib
import pathlib
import zlib

import pytest

from programs import lanes, secret_file, stream

KIT = sorted((pathlib.Path(__file__).parents[2] / "vectors/age").glob("[a-z]*"))

STATUS = {"success": 0, "no match": 3, "HMAC failure": 4, "header failure": 4, "armor failure": 4, "payload failure": 4}

# How files are read: from a pipe and as a file, in chunks of one segment and of several, on each kind of lane.
WAYS = [("pipe", "64K", "cpu:3"), ("file", "64K", "cpu:1"), ("pipe", "1M", "cpu:1"), ("file", "256K", "cpu:2")]


class Case:
    """Lines "name: value", an empty line, and the age file."""

    def __init__(self, path):
        head, _, self.file = path.read_bytes().partition(b"\n\n")
        fields = [line.split(": ", 1) for line in head.decode().splitlines()]
        self.secrets = [value for name, value in fields if name in ("identity", "passphrase")]
        fields = dict(fields)
        if fields.get("compressed") == "zlib":
            self.file = zlib.decompress(self.file)
        self.option = "--passphrase-file" if "passphrase" in fields else "-k"
        self.status = 1 if path.name == "version_unsupported" else STATUS[fields["expect"]]
        self.released = fields.get("payload", hashlib.sha256(b"").hexdigest())
        self.needs_ml_kem = any(secret.startswith("AGE-SECRET-KEY-PQ-") for secret in self.secrets)


def test_the_kit_is_complete():
    assert len(KIT) == 107


@pytest.mark.parametrize("path", KIT, ids=lambda path: path.name)
def test_file(path, request):
    case = Case(path)
    wrap = request.getfixturevalue("ml_kem") if case.needs_ml_kem else ()
    secrets = secret_file("secrets", "\n".join(case.secrets).encode())
    ways = WAYS if case.file.startswith(b"age") and len(case.file) > 1000 else WAYS[:1]
    for via, chunk, lane in [*ways, *((WAYS[0][:2] + (lane,)) for lane in lanes() if lane.startswith("cuda"))]:
        got = stream("-q", "-d", case.option, secrets, "-b", chunk, "-l", lane, status=case.status, input=case.file,
                     via=via, wrap=wrap)
        assert hashlib.sha256(got.out).hexdigest() == case.released, (via, chunk, lane)
