"""The passphrase is the first line of a file or of the output of a command, unchanged: 1 to 1024 bytes."""

import os
import pathlib

import pytest

from damage import QUICK, open_independently
from programs import each_way, expect_same, files_here, secret_file, some_bytes, stream

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402

PLAIN = some_bytes(20000)
WORDS = b"two words"
LONGEST = b"x" * 1024
OUTPUT = "the output of --passphrase-command"
EMPTY = "the passphrase from {} is empty"
LONG = "the passphrase from {} is longer than 1024 bytes"
WRONG = "the passphrase does not open the input"
CARRIAGE_RETURN = ("the passphrase from {} ends with a carriage return, which is part of it; "
                   "Windows programs write one before each newline")
HINTS = {LONG: "a passphrase ends at the first newline",
         WRONG: "the input was encrypted with other secrets, or its header is damaged; --info lists its slots"}


@pytest.fixture(autouse=True)
def files(work):
    pathlib.Path("plain").write_bytes(PLAIN)
    pathlib.Path("sealed").write_bytes(sf.seal(PLAIN, passphrase=WORDS, log_n=10))
    secret_file("words", WORDS)
    secret_file("windows", WORDS + b"\r\nsecond line\r\n")


def expect_opened(*options, file="sealed", **how):
    expect_same(PLAIN, stream("-q", "-d", *options, "-i", file, **how).out, options)


# HMAC, and so scrypt, ignores zero bytes at the end of a passphrase, so adding them would not make it wrong.
PASSPHRASES = [b"a", WORDS, b" ", b"\t \r", b"ends with a space ", b"\x80 \xff\xfe \tp\xc3\xa4ss ", bytes(3), LONGEST]
OTHERS = [b"two", b"two  words", b"two words ", b"two words\r\n", b"Two words", b" two words", b"\0two words",
          b"\xff\0\n", LONGEST]
CASES = [*((each, each + end, "") for each in PASSPHRASES for end in (b"", b"\n", b"\nsecond line\n")),
         (WORDS, WORDS + b"\n" + b"x" * 60000, ""), (LONGEST, LONGEST + b"\n" + b"y" * 100000, ""),
         *((WORDS, content, WRONG) for content in OTHERS),
         *((WORDS, content, EMPTY) for content in (b"", b"\n", b"\ntwo words\n")),
         *((WORDS, content, LONG) for content in (LONGEST + b"x", LONGEST + b"x\n"))]


def test_the_first_line_is_the_passphrase(batch):
    name = secret_file(os.path.abspath("given"), b"")
    sealed = {each: sf.seal(PLAIN, passphrase=each, log_n=10) for each in PASSPHRASES}
    for run, (passphrase, content, error) in each_way(batch, CASES):
        secret_file(name, content)
        for option, argument in ("--passphrase-file", name), ("--passphrase-command", f"cat {name}"):
            is_file = option.endswith("file")
            want = error if is_file or len(content) <= 65536 else f"{OUTPUT} is longer than 65536 bytes"
            status = 0 if not want else 3 if want == WRONG else 2
            result = run("-q", *QUICK, "-d", option, argument, status=status, input=sealed[passphrase])
            shown = result.error.removeprefix("--passphrase-file: ")
            assert (shown, result.hint) == (want.format(name if is_file else OUTPUT), HINTS.get(want, "")), content[:40]
            expect_same(b"" if want else PLAIN, result.out, content[:40])


def test_seals_with_one_slot():
    sealed = stream("-q", "--passphrase-file", "words", input=PLAIN).out
    assert len(sealed) == 108 + 70 + len(PLAIN) + 2 * 16
    assert sealed[16:26].hex() == "01010046020043110801", "expected a slot 02 with N = 2^17, r = 8, p = 1"
    assert open_independently(sealed, passphrase=WORDS) == (0, PLAIN)


def test_a_file_can_be_a_pipe():
    with os.popen("cat words") as cat:
        expect_opened("--passphrase-file", f"/dev/fd/{cat.fileno()}", pass_fds=[cat.fileno()])


@pytest.mark.parametrize("name, status, error", [
    ("empty", 2, EMPTY), ("empty-line", 2, EMPTY), ("long", 2, LONG), ("/dev/zero", 2, LONG),  # endless
    ("missing", 1, "cannot open {}: No such file or directory"), (".", 1, "cannot read {}: Is a directory"),
])
def test_a_file_that_cannot_be_used_to_encrypt(name, status, error):
    for file, content in ("empty", b""), ("empty-line", b"\nsecond line\n"), ("long", bytes(1025)):
        secret_file(file, content)
    result = stream("-q", "--passphrase-file", name, status=status, input=PLAIN)
    assert (result.error, result.hint) == (f"--passphrase-file: {error.format(name)}", HINTS.get(error, ""))
    assert result.out == b""


@pytest.mark.parametrize("command, error", [
    ("echo hunter2; false hunter2", "--passphrase-command failed with exit status 1"),
    ("exit 127 # hunter2", "--passphrase-command failed with exit status 127"),
    ("echo hunter2; kill $$", "--passphrase-command was killed by signal 15 (Terminated)"),
    ("true", EMPTY), ("yes hunter2", "{} is longer than 65536 bytes"), ("head -c 2000 /dev/zero", LONG),
])
def test_a_failure_shows_neither_the_command_nor_its_output(command, error):
    before = files_here()
    for options in ["-v", "-i", "missing", "-o", "new"], ["-q", "-i", "plain"]:
        result = stream("--passphrase-command", command, *options, status=2)
        assert (result.error, result.hint) == (error.format(OUTPUT), HINTS.get(error, ""))
        assert "hunter2" not in result.err and result.out == b"" and files_here() == before


def test_windows_line_endings_are_part_of_the_passphrase():
    result = stream("--passphrase-file", "windows", "-i", "plain", "-o", "new")
    assert result.err == f"gpuaes-stream: warning: {CARRIAGE_RETURN.format('windows')}\n"
    result = stream("-d", "--passphrase-command", 'printf "two words\r\n"', "-i", "sealed", status=3)
    assert result.warnings == [CARRIAGE_RETURN.format(OUTPUT)]
    expect_opened("--passphrase-file", secret_file("return", WORDS + b"\r"), file="new")


def test_a_command_runs_once_in_a_shell_without_the_input(key):
    command = 'cat; echo run >>runs; echo "two words"; echo unlocked >&2'
    result = stream("-q", "--passphrase-command", command, input=PLAIN)
    assert result.err == "unlocked\n"
    pathlib.Path("new").write_bytes(result.out)
    expect_opened("-k", key, "--passphrase-command", "echo run >>runs; echo two words", file="new")
    assert pathlib.Path("runs").read_text() == "run\n" * 2


def test_a_command_as_the_input():
    stream("-q", "--passphrase-command", "echo two words", "-o", "new", "--", "cat", "plain")
    expect_opened("--passphrase-file", "words", file="new")


def test_rekey_uses_a_command_for_the_new_passphrase():
    rekey = ["--rekey", "--passphrase-command", "echo two words", "-i", "sealed"]
    result = stream(*rekey, "--new-passphrase-command", "false", status=2)
    assert result.error == "--new-passphrase-command failed with exit status 1"
    stream("-q", *rekey, "--new-passphrase-command", "echo three")
    stream("-q", "-d", "--passphrase-file", "words", "-i", "sealed", status=3)
    expect_opened("--passphrase-command", "echo three")
