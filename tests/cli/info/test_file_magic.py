"""file(1) recognizes files of the programs with man/magic, and nothing else."""

import os
import pathlib
import shutil
import subprocess

import pytest

from programs import keygen, stream

MAGIC = pathlib.Path(__file__).parents[3] / "man/magic"
SEALED = "gpuaes-stream sealed file, version 1"

pytestmark = pytest.mark.skipif(not shutil.which("file"), reason="file is not installed")


def shown(name, *options):
    command = ["file", "-b", "-m", MAGIC, *options, name]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


@pytest.fixture
def recipient():
    return keygen("--x25519", "-o", "identity").out.decode()


@pytest.mark.parametrize("options, text", [
    ("-k KEY", "AES-256-GCM, sealed with a key file"),
    ("--passphrase-file pass -c kuznyechik", "Kuznyechik-MGM, sealed with a passphrase"),
    ("-f sealed -r RECIPIENT", "AES-256-GCM, sealed for a recipient"),
    ("-k KEY -r RECIPIENT", "AES-256-GCM, 2 key slots"),
])
def test_sealed_files(key, recipient, options, text):
    pathlib.Path("pass").write_text("pass phrase\n")
    os.chmod("pass", 0o600)
    stream("-q", *options.replace("KEY", key).replace("RECIPIENT", recipient).split(), "-o", "sealed", input=b"text")
    assert shown("sealed") == f"{SEALED}, {text}"
    assert shown("sealed", "--mime-type") == "application/x-gpuaes-stream"


@pytest.mark.parametrize("content, text", [
    (b"gpuaes-stream/1\n\1\1\4\x93\4", f"{SEALED}, AES-256-GCM, sealed for a post-quantum recipient"),
    (b"gpuaes-stream/1\n\3\2", f"{SEALED}, AES-256-GCM, in parts, 2 key slots"),
    (b"gpuaes-stream/1\n\4\2", f"{SEALED}, Kuznyechik-MGM, in parts, 2 key slots"),
    (b"gpuaes-stream/1\n\7\2", f"{SEALED}, unknown suite 0x07, 2 key slots"),
    (b"gpuaes-stream/2\n\1\2", "gpuaes-stream sealed file, unknown version"),
    (b"gpuaes-parts/1\n\1\2", "gpuaes-parts job file (secret key), version 1"),
    (b"gpuaes-parts/2\n\1\2", "gpuaes-parts job file (secret key), unknown version"),
    (b"age1, gpuaes-stream/1 and AGE-SECRET-KEY-1 are prefixes\n", "ASCII text"),
])
def test_other_contents(content, text):
    pathlib.Path("content").write_bytes(content)
    assert shown("content") == text


def test_armor(key):
    stream("-q", "-k", key, "-a", "-o", "armored", input=b"text")
    assert shown("armored") == "gpuaes-stream sealed file, armored"
