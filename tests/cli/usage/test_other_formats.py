"""Decryption detects authenticated formats by their magic. Any other input fails with status 4, without output, and a
hint says what it may be."""

import os
import pathlib
import shutil
import subprocess

import pytest

from processes import bytes_in_pipe, wait_for
from programs import IV, NOT_ENCRYPTED, PATIENCE, expect_same, files_here, secret_file, some_bytes, start, stream

PLAIN = some_bytes(40000)
PAGE = "the download may have failed, with this page as its result"
COMPRESSED = "it is compressed, not encrypted"
UNKNOWN = "the input is not in a known format"
UNSEALED = "the input is not in the sealed format: it does not begin with 'gpuaes-stream/1' and a newline"
# Without an agent, which would outlive the test, and which measures how many iterations take 0.1 s.
GPG = "gpg --homedir . --no-autostart --s2k-count 65536 --batch --pinentry-mode loopback --passphrase x"


@pytest.fixture
def passphrase(work):
    return secret_file(work.parent / "passphrase", b"correct horse\n")


@pytest.mark.parametrize("command, name, hint", [
    ("gzip", "a gzip file", COMPRESSED),
    (f"{GPG} -c", "an OpenPGP file", "decrypt it with gpg"),
    (f"{GPG} -a -c", "an OpenPGP file", "decrypt it with gpg"),
    ("printf <!DOCTYPE\\40html><html>", "an HTML page", PAGE),
])
def test_files_of_other_programs(key, passphrase, batch, command, name, hint):
    tool, *words = command.split()
    if not shutil.which(tool):
        pytest.skip(f"{tool} is not installed")
    foreign = subprocess.run([tool, *words], input=PLAIN, capture_output=True, check=True).stdout
    file = os.path.abspath("foreign")
    pathlib.Path(file).write_bytes(foreign)
    run, error = stream if tool == "printf" else batch.stream, f"this is {name}, not a gpuaes-stream file"
    for run_it, options in (
        *((run, f"-q -k {key} {mode}") for mode in ("-d", "-d -f sealed", "--test", "--salvage", "--range 0:1")),
        (run, f"-q -d -f openssl --passphrase-file {passphrase}"),
        (stream, f"-q -k {key} --rekey --new-key {key}"),
        (stream, "--info"),
    ):
        result = run_it(*options.split(), "-i", file, status=4)
        assert (result.out, result.error, result.hint) == (b"", f"{file}: {error}", hint), options
    result = run("-q", "-k", key, "-d", input=foreign, status=4)
    assert (result.out, result.error, result.hint) == (b"", error, hint)
    # Encryption accepts any input.
    expect_same(foreign, run("-q", "-k", key, "-d", input=run("-q", "-k", key, "-i", file).out).out)


def test_a_file_is_recognized_as_soon_as_its_magic_has_arrived(key):
    os.mkfifo("fifo")
    fd = os.open("fifo", os.O_RDWR)
    os.write(fd, b"\x1f\x8b\x08" + bytes(19))
    result = stream("-d", "-k", key, "-i", "fifo", status=4)
    os.close(fd)
    assert (result.error, result.hint) == ("fifo: this is a gzip file, not a gpuaes-stream file", COMPRESSED)


@pytest.mark.parametrize("content, error, hint", [
    (PLAIN, UNKNOWN, NOT_ENCRYPTED),
    (["-f", "raw", "--iv", IV], UNKNOWN, NOT_ENCRYPTED),
    (b"", "the input is empty", ""),
    (b"gpuaes-stream", UNKNOWN, NOT_ENCRYPTED),
    (b"gpuaes-stream/x\n" + b" " * 200, UNSEALED, NOT_ENCRYPTED),
], ids=["plain", "raw", "empty", "part", "like sealed"])
def test_an_unknown_format(key, passphrase, content, error, hint):
    if isinstance(content, list):
        options = ["-q", "-k", key, *content]
        content = stream(*options, input=PLAIN).out
        expect_same(PLAIN, stream("-d", *options, input=content).out, "if the format is named")
    pathlib.Path("file").write_bytes(content)
    for options, via, expected in (
        (f"-q -k {key} -d", "file", (error, hint)),
        (f"-q -k {key} -d", "pipe", (error, hint)),
        (f"-q -d --passphrase-file {passphrase}", "pipe", (error, hint)),
        ("-d", "file", (error, hint)),
        (f"-q -k {key} -d -i file -o out", "file", (f"file: {error}", hint)),
        (f"-q -k {key} -d -f sealed", "file", (UNSEALED, NOT_ENCRYPTED)),
    ):
        result = stream(*options.split(), status=4, input=content, via=via)
        assert (result.out, result.error, result.hint) == (b"", *expected), options
    assert files_here() == ["file"]


def test_the_format_is_detected_if_the_input_arrives_byte_by_byte(key):
    sealed = stream("-q", "-k", key, input=PLAIN).out
    child = start("gpuaes-stream", "-q", "-k", key, "-d", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for byte in sealed[:20]:
        os.write(child.stdin.fileno(), bytes([byte]))
        wait_for(lambda: bytes_in_pipe(child.stdin) == 0, "the byte to be read", pause=0.0005)
    expect_same(PLAIN, child.communicate(sealed[20:], PATIENCE)[0])
    assert child.returncode == 0
