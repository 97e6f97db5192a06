"""--test verifies several files, prints a line for each and continues after an error; the exit status is the highest
one. Secrets are read once, and what concerns all files is checked before any is read."""

import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from processes import expect_death_by, wait_until_idle
from programs import FOLDER, IV, KEY, PATIENCE, files_here, secret_file, some_bytes, start, stream
from special_files import feeding

SHORT = "the input is truncated after byte 16575; 16384 bytes of plaintext before that were verified"
MISSING = "cannot open missing: No such file or directory"
OTHER = "other: none of the given keys opens the input"
TWICE = "use a different file for one of them"
FORMATS = "authenticated formats: sealed, age, cobblestone"
ERROR = re.compile("^gpuaes-stream: error: (.*)$", re.M)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The folder of files that all tests use."""
    folder = tmp_path_factory.mktemp("files")
    key, other_key = secret_file(folder / "key", KEY), secret_file(folder / "other.key", KEY[::-1])
    secret_file(folder / "words", b"correct horse\n")
    (folder / "plain").write_bytes(some_bytes(60_000))
    for name, secret, cipher in ("good", key, ""), ("second", key, "-c kuznyechik"), ("other", other_key, ""):
        stream("-q", "-k", secret, *cipher.split(), "plain", "-o", name, cwd=folder)
    (folder / "short").write_bytes((folder / "good").read_bytes()[:16575])
    (folder / "directory").mkdir()
    return folder


@pytest.fixture(autouse=True)
def files(work, prepared):
    shutil.copytree(prepared, work, dirs_exist_ok=True)


def verify(*options, stdin=os.devnull, **popen):
    """Returns the exit status, the names of the files that are reported as good, and all errors."""
    command = [FOLDER / "gpuaes-stream", "-t", *options]
    with open(stdin, "rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, timeout=PATIENCE, **popen)
    lines = done.stdout.decode().splitlines()
    assert all(line.endswith(": ok") for line in lines)
    return done.returncode, [line.removesuffix(": ok") for line in lines], ERROR.findall(done.stderr.decode())


@pytest.mark.parametrize("names, stdin, status, good, errors", [
    ("good second good", "", 0, ["good", "second", "good"], []),
    ("-l cpu:2 -b 16K good second", "", 0, ["good", "second"], []),
    ("good - good", "second", 0, ["good", "standard input", "good"], []),
    ("good short missing other good", "", 4, ["good"] * 2, [f"short: {SHORT}", MISSING, OTHER]),
    ("- good", "short", 4, ["good"], [f"standard input: {SHORT}"]),
    ("missing other good", "", 3, ["good"], [MISSING, OTHER]),
    ("missing good", "", 1, ["good"], [MISSING]),
    ("--salvage short good", "", 4, ["good"], [f"short: {SHORT}; nothing after that was recovered"]),
])  # fmt: skip
def test_each_file_is_reported(key, names, stdin, status, good, errors):
    assert verify("-k", key, *names.split(), stdin=stdin or os.devnull) == (status, good, errors)


def test_each_secret_is_read_once(key):
    pytest.importorskip("cryptography")
    import sealed_format as sf
    pathlib.Path("by-words").write_bytes(sf.seal(b"text", passphrase=b"correct horse", log_n=10))
    assert verify("-k", "-", "good", "second", "good", stdin=key) == (0, ["good", "second", "good"], [])
    with feeding("pipe", KEY):
        assert verify("-k", "pipe", "good", "second") == (0, ["good", "second"], [])
    with feeding("pipe", b"correct horse\n"):
        assert verify("--passphrase-file", "pipe", "by-words", "by-words") == (0, ["by-words"] * 2, [])
    reader, writer = os.pipe()
    os.write(writer, b"correct horse\n")
    os.close(writer)
    words = "--passphrase-file", f"/dev/fd/{reader}"
    assert verify("-k", key, *words, "by-words", "good", pass_fds=[reader]) == (0, ["by-words", "good"], [])
    os.close(reader)


@pytest.mark.parametrize("options, status, error, hint", [
    ("-t -k KEY - good -", 2, "the input and another input are both read from standard input", TWICE),
    ("-t -k words good words", 2, "--key and another input are both read from words", TWICE),
    ("-t -k KEY --stats figures good good", 2, "--stats requires a single input", ""),
    ("-t -k KEY -f raw --iv IV good good", 2,
     "the raw format is not authenticated, so --test cannot verify anything", FORMATS),
    ("-q -k KEY --test -o out -i good", 2, "--test and --output cannot be used together", ""),
])  # fmt: skip
def test_what_cannot_be_verified_is_an_error(key, options, status, error, hint):
    os.mkfifo("pipe")
    before = files_here()
    words = options.replace("KEY", key).replace("IV", IV).split()
    found = stream(*words, status=status, input=b"data")
    assert (found.error, found.hint, files_here()) == (error, hint, before)


def test_an_error_of_the_output_ends_the_run(key):
    with open("/dev/full", "wb") as full:
        found = stream("-t", "-k", key, "good", "short", "good", status=1, stdout=full)
    assert found.error == "cannot write standard output after byte 0: No space left on device"


@pytest.mark.parametrize("size", [0, 20_000])
def test_a_signal_ends_the_run_and_not_only_the_current_file(key, size):
    os.mkfifo("pipe")
    with open("pipe", "r+b", buffering=0) as fifo:
        fifo.write(pathlib.Path("good").read_bytes()[:size])
        options = ["-t", "-k", key, "short", "pipe", "good"]
        child = start("gpuaes-stream", *options, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_until_idle(child)
        expect_death_by(child, signal.SIGINT)
    assert child.stdout.read() == b"" and ERROR.findall(child.stderr.read().decode()) == [f"short: {SHORT}"]
