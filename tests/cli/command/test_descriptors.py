"""Commands inherit what the program was started with, except descriptors through which they could read a secret."""

import os
import pathlib

import pytest

from processes import redirected
from programs import keygen, parts, some_bytes, stream

PLAIN = some_bytes(1000)
LIST = 'ls -l "/proc/$$/fd" >../seen; cat <&3 >../stolen 2>/dev/null; cat <&4 >>../stolen 2>/dev/null; cat >>../stolen'


@pytest.fixture
def secrets(work):
    """Files with secrets, and `link`, a symbolic link to descriptor 3."""
    os.umask(0o077)
    for name in ("key", "key2"):
        (work.parent / name).write_bytes(os.urandom(32))
    (work.parent / "words").write_text("one\nrest of the file\n")
    (work.parent / "link").symlink_to("/dev/fd/3")
    (work.parent / "other").write_text("other")
    os.mkfifo(work.parent / "fifo", 0o600)
    keygen("--x25519", "-o", work.parent / "identity")


def seen():
    """The targets of the descriptors that a command had."""
    lines = pathlib.Path("../seen").read_text().splitlines()
    return {int(line.split(" -> ")[0].split()[-1]): line.split(" -> ")[1] for line in lines if " -> " in line}


@pytest.mark.parametrize("options, redirections, closed", [
    (["-k", "/proc/self/fd/3"], "3<../key 4<&3", {3, 4}),
    (["-k", "../link"], "3<>../key", {3}),
    (["-k", "../key"], "3<../key", {3}),
    (["-k", "/dev/fd/3", "-k", "/dev/fd/4"], "3<../key 4<../key2", {3, 4}),
    (["-k", "../key", "--passphrase-file", "/dev/fd/3"], "3<>../fifo 4>&3; printf 'one\\nrest\\n' >&3", {3, 4}),
    (["-k", "../key", "-R", "/dev/fd/3"], "3<../identity.pub", {3}),
    (["-k", "../key", "--passphrase-file", "-"], "<../words 4<&0", {0, 4}),
    (["-k", "/dev/fd/2"], "2<../key", {2}),
])
def test_commands_get_no_descriptors_of_secrets(secrets, options, redirections, closed):
    stream("-q", *options, "-o", "out", "--", "sh", "-c", LIST, wrap=redirected(redirections), stdin=None, status=None)
    got = seen()
    for fd in closed:
        assert got.get(fd) == ("/dev/null" if fd <= 2 else None)
    assert pathlib.Path("../stolen").read_bytes() == b""
    assert pathlib.Path("out").exists()


def test_other_descriptors_stay_open(secrets):
    stream("-q", "-k", "/dev/fd/3", "-o", "out", "--", "sh", "-c", LIST, input=b"input",
           wrap=redirected("3<../key 4<../other 5>../new"))
    got = seen()
    assert (3 in got, got[4].endswith("other"), got[5].endswith("new")) == (False, True, True)
    assert pathlib.Path("../stolen").read_bytes() == b"otherinput"


@pytest.mark.parametrize("options", [
    ["-k", "/dev/fd/3", "-o", "out", "-i", "plain"],
    ["--rekey", "-k", "../key", "--new-key", "/dev/fd/3", "-i", "sealed", "-o", "out"],
])
def test_passphrase_commands_get_no_descriptors_of_secrets(secrets, options):
    """Also of secrets that are read only after the command has run."""
    pathlib.Path("plain").write_bytes(PLAIN)
    stream("-k", "../key", "-i", "plain", "-o", "sealed")
    stream("-q", *options, "--passphrase-command", LIST + "; echo one", wrap=redirected("3<../key2 4<../other"),
           status=None)
    got = seen()
    assert 3 not in got and got[4].endswith("other") and got[0] == "/dev/null"
    assert pathlib.Path("../stolen").read_bytes() == b"other"


def test_passphrase_command_of_parts(secrets):
    parts("plan", "-k", "/dev/fd/3", "--passphrase-command", LIST + "; echo one", "-o", "dir",
          wrap=redirected("3<../key2 4<../other"))
    assert 3 not in seen()


def test_environment_is_that_of_the_program(secrets):
    """Even if the program hides CUDA devices from the driver."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "0,1,2", "EMPTY": ""}
    stream("-q", "-l", "cuda:1", "--passphrase-command", "env >../env; echo one", status=None, env=environment)
    lines = pathlib.Path("../env").read_text().splitlines()
    assert "CUDA_VISIBLE_DEVICES=0,1,2" in lines and "EMPTY=" in lines
