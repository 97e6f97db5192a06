"""sealedfile.py as a program. open-sealed.py is another name of it."""

import os
import pathlib
import pty
import subprocess
import sys

import pytest

import parts_steps
from processes import read_terminal
from programs import KEY, PATIENCE, secret_file

pytest.importorskip("cryptography")
import age_format as af  # noqa: E402
import sealed_format as sf  # noqa: E402
from sources import PLAIN, READER, SEALED, SEGMENT, seal, seal_in_parts  # noqa: E402

PROGRAM = READER / "open-sealed.py"


def program(*options, error=None, **how):
    """What it writes. With `error`, it must fail with this message."""
    done = subprocess.run([sys.executable, PROGRAM, *options], capture_output=True, timeout=PATIENCE, **how)
    message = f"open-sealed.py: error: {error}\n" if error else ""
    assert (done.stderr.decode(), done.returncode) == (message, bool(error))
    return done.stdout


def test_files_pipes_and_directories(key):
    pathlib.Path("sealed").write_bytes(seal(PLAIN, "-k", key))
    parts_steps.plan_and_seal(key, PLAIN, 3, "dir")
    parts_steps.join("dir")
    for name in ("sealed", "dir"):
        assert program("-k", key, name) == PLAIN
    with open("sealed", "rb") as file:
        assert program("-k", key, stdin=file) == PLAIN
    for data in pathlib.Path("sealed").read_bytes(), seal_in_parts(PLAIN, 3, key):
        assert program("-k", key, input=data) == PLAIN


def test_age_files():
    secret_file("identity", af.identity_text().encode())
    assert program("-k", "identity", input=af.seal(PLAIN)) == PLAIN
    program("-k", "identity", "--label", "x", input=af.seal(PLAIN), error="the input is an age file, which has no label")


def test_passphrases():
    secret_file("passphrase", b" \xc3\xa9\xff \nanother line")
    sealed = seal(PLAIN, "--passphrase-file", "passphrase")
    assert program("--passphrase-file", "passphrase", input=sealed) == PLAIN
    secret_file("empty", b"\n")
    program("--passphrase-file", "empty", input=sealed, error="a passphrase has 1 to 1024 bytes")


def test_it_asks_for_the_passphrase():
    secret_file("passphrase", b"correct horse")
    pathlib.Path("sealed").write_bytes(seal(PLAIN, "--passphrase-file", "passphrase"))
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("sh", ["sh", "-c", '"$@" -p <sealed >opened', "sh", sys.executable, PROGRAM])
    shown = read_terminal(terminal, lambda seen: seen.endswith(b"Enter passphrase: "))
    assert shown.endswith(b"Enter passphrase: "), shown
    os.write(terminal, b"correct horse\n")
    assert os.waitpid(pid, 0)[1] == 0
    assert pathlib.Path("opened").read_bytes() == PLAIN


def test_labels(key):
    sealed = seal(PLAIN, "-k", key, "--label", "\xe9t\xe9")
    assert program("-k", key, "--label", "\xe9t\xe9", input=sealed) == PLAIN
    program("-k", key, input=sealed, error="the label is wrong, or the file is damaged")


def test_armor_is_removed_as_it_says(key):
    pathlib.Path("armored").write_bytes(seal(PLAIN, "-a", "-k", key))
    usage = PROGRAM.read_text().split('"""')[1]
    command = next(line for line in usage.splitlines() if "base64" in line).replace("ARMORED", "armored")
    shell = ["sh", "-c", f'{command} | "$@"', "sh", sys.executable, PROGRAM, "-k", key]
    assert subprocess.run(shell, capture_output=True, check=True).stdout == PLAIN
    program("-k", key, "armored", error="armor is not supported: remove it first")


def test_only_verified_plaintext_is_written(key):
    plain = bytes(256 * SEGMENT + 100)
    sealed = bytearray(sf.seal(plain, keys=[KEY]))
    for changed in sealed[:-1], sealed + b"\0":
        assert program("-k", key, input=changed, error="segment 256 is not authentic") == b""
    assert program("-k", key, input=sealed[: -116 - SEALED + 50], error="segment 255 is not authentic") == b""
    sealed[-116 - SEALED] ^= 1
    out = program("-k", key, input=sealed, error="segment 255 is not authentic")
    assert out == plain[: len(out)] and 0 < len(out) <= 255 * SEGMENT


def test_errors(key):
    sealed = seal(PLAIN, "-k", key)
    program("-k", secret_file("other", KEY[::-1]), input=sealed, error="the secret opens no slot")
    program("-k", secret_file("short", b"x"), input=sealed,
            error="the key file contains neither a key of 32 bytes nor an identity")
    program("-k", key, "missing", error="[Errno 2] No such file or directory: 'missing'")


def test_pipes_are_checked_before_they_are_copied(key):
    """Their contents go to a temporary file, which would not fit. The error comes before the end of the pipe."""
    for begin, error in (
            (b"", "the input is neither a sealed file nor an age file"),
            (b"age-encryption.org/v1\n->  ", "the header is malformed, too long or truncated"),
            (b"-----BEGIN AGE ENCRYPTED FILE-----\n", "armor is not supported: remove it first")):
        with subprocess.Popen([sys.executable, PROGRAM, "-k", key], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            child.stdin.write(begin.ljust(4096, b"x") if begin[:1] != b"a" else begin.ljust(4095, b"x") + b"\n")
            child.stdin.flush()
            assert child.wait(PATIENCE) == 1
            assert child.stderr.read().decode() == f"open-sealed.py: error: {error}\n"


def test_named_files_do_not_block_it(key):
    sealed = seal(PLAIN, "-k", key)
    os.mkfifo("fifo")
    program("-k", key, "fifo", error="[Errno 29] Not a regular file: 'fifo'")
    program("-k", "fifo", input=sealed, error="the key file contains neither a key of 32 bytes nor an identity")
    program("--passphrase-file", "fifo", input=sealed, error="a passphrase has 1 to 1024 bytes")
    program("--passphrase-file", "/dev/zero", input=sealed, error="a passphrase has 1 to 1024 bytes")


def test_process_substitution(key):
    pathlib.Path("sealed").write_bytes(seal(PLAIN, "-k", key))
    command = ["bash", "-c", '"$0" "$1" -k <(sleep 0.2; cat "$2") < <(cat sealed)', sys.executable, PROGRAM, key]
    assert subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE).stdout == PLAIN
