"""age and age-keygen read what the programs write, and vice versa."""

import os
import pathlib
import pty
import shutil
import subprocess

import pytest

from processes import read_terminal
from programs import PATIENCE, expect_same, keygen, secret_file, some_bytes, stream

pytestmark = pytest.mark.skipif(not (shutil.which("age") and shutil.which("age-keygen")), reason="age is not installed")

KIB64 = 65536


def age(*options, input):
    return subprocess.run(["age", *options], input=input, stdout=subprocess.PIPE, check=True, timeout=PATIENCE).stdout


@pytest.fixture
def recipients(work):
    """Of `theirs` and `ours`, identity files that age-keygen and gpuaes-keygen wrote."""
    made = subprocess.run(["age-keygen", "-o", "theirs"], capture_output=True, check=True, text=True)
    return [made.stderr.split(": ")[1].strip(), keygen("--x25519", "-o", "ours").out.decode().strip()]


@pytest.mark.parametrize("size", [0, 1, KIB64 - 1, KIB64, KIB64 + 1, 2 * KIB64, 16 * KIB64, 16 * KIB64 + 1])
def test_both_ways(recipients, size):
    plain = some_bytes(size)
    for armored, recipient, name in zip(([], ["-a"]), recipients, ("theirs", "ours")):
        expect_same(plain, age("-d", "-i", name, input=stream("-r", recipient, *armored, input=plain).out), name)
        expect_same(plain, stream("-d", "-k", name, input=age("-r", recipient, *armored, input=plain)).out, name)


def test_several_recipients(recipients):
    pathlib.Path("list").write_text("# both\n\n" + "\n".join(recipients) + "\n")
    plain = some_bytes(100000)
    one, two = recipients
    for options in ["-R", "list"], ["-r", one, "-r", two], ["-r", one, "-R", "list"]:
        for made in stream(*options, input=plain).out, age(*options, input=plain):
            for name in "theirs", "ours":
                expect_same(plain, age("-d", "-i", name, input=made), name)
                expect_same(plain, stream("-d", "-k", name, input=made).out, name)


def test_identity_files(recipients):
    for name, recipient in zip(("theirs", "ours"), recipients):
        printed = subprocess.run(["age-keygen", "-y", name], capture_output=True, check=True, text=True).stdout.strip()
        assert printed == keygen("-y", name).out.decode().strip() == recipient


def with_answers(command, answers):
    """Runs age, which reads passphrases from its controlling terminal."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    for answer in answers:
        read_terminal(terminal, lambda seen: seen.rstrip().endswith(b":"))
        os.write(terminal, answer + b"\n")
    read_terminal(terminal)
    assert os.waitpid(child, 0)[1] == 0
    os.close(terminal)


def test_passphrases():
    plain, words = some_bytes(KIB64), secret_file("words", b"correct horse\n")
    pathlib.Path("plain").write_bytes(plain)
    stream("-f", "age", "--passphrase-file", words, "-i", "plain", "-o", "ours.age")
    with_answers(["age", "-d", "-o", "opened", "ours.age"], [b"correct horse"])
    expect_same(plain, pathlib.Path("opened").read_bytes())
    with_answers(["age", "-p", "-o", "theirs.age", "plain"], [b"correct horse"] * 2)
    expect_same(plain, stream("-d", "--passphrase-file", words, "-i", "theirs.age").out)
