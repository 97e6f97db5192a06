"""A key file that is itself encrypted with a passphrase, which the terminal is asked for."""

import pathlib

import pytest

from programs import FOLDER, keygen, some_bytes, stream
from terminals import at_terminal

PLAIN = some_bytes(1000)
ONLY = "a key file can be encrypted only with a passphrase, which is asked for on the terminal"
NO_TERMINAL = "there is no terminal to ask for the passphrase of encrypted"
DECRYPTED = "<(gpuaes-stream -d --passphrase-file FILE encrypted)"
QUESTION = "Enter passphrase for encrypted:"
WORDS = ["two words"]


@pytest.fixture
def recipient():
    """Of the identity in the file `identity`, which opens the file `input`."""
    pathlib.Path("words").write_text("two words\n")
    pathlib.Path("words").chmod(0o600)
    recipient = keygen("--x25519", "-o", "identity").out.decode().strip()
    stream("-r", recipient, "-o", "input", input=PLAIN)
    return recipient


def encrypt(name, *options):
    stream("-q", *options, "--force", "-o", "encrypted", name)


def open_with_it(**how):
    return at_terminal("-d", "-k", "encrypted", "input", **how)


@pytest.mark.parametrize("options", [["-f", "age"], ["-f", "sealed"], ["-f", "age", "-a"], ["-f", "sealed", "-a"]])
def test_opens_files_like_the_key_in_it(recipient, options):
    encrypt("identity", "--passphrase-file", "words", *options)
    result, questions = open_with_it(answers=WORDS)
    assert (result.out, questions) == (PLAIN, [QUESTION])


def test_a_key_without_a_line(recipient):
    keygen("-o", "key")
    stream("-k", "key", "-o", "input", "--force", input=PLAIN)
    encrypt("key", "--passphrase-file", "words")
    assert open_with_it(answers=WORDS)[0].out == PLAIN


def test_wrong_passphrases(recipient):
    encrypt("identity", "--passphrase-file", "words")
    result, _ = open_with_it(answers=["wrong 1", "wrong 2", "wrong 3"], status=3)
    assert (result.error, result.out) == ("the passphrase does not open encrypted", b"")


@pytest.mark.parametrize("format", ["age", "sealed"])
def test_without_a_terminal(recipient, format):
    encrypt("identity", "--passphrase-file", "words", "-f", format)
    for secret in [], ["--passphrase-file", "words"]:  # which is for the input
        result = stream("-d", "-k", "encrypted", *secret, "input", status=2, start_new_session=True)
        assert result.error == f"--key: {NO_TERMINAL}"
        assert result.hint == f"in bash, name {DECRYPTED} instead"
    result = keygen("-y", "encrypted", status=2, start_new_session=True)
    assert result.error == NO_TERMINAL


def test_without_a_terminal_it_can_be_decrypted_by_another_process(recipient):
    encrypt("identity", "--passphrase-file", "words")
    command = DECRYPTED.replace("FILE", "words").replace("gpuaes-stream", str(FOLDER / "gpuaes-stream"))
    in_bash = ["bash", "-c", f'"$@" -k {command}', "bash"]
    assert stream("-d", "input", wrap=in_bash, start_new_session=True).out == PLAIN


def test_encrypted_for_a_recipient(recipient):
    encrypt("identity", "-r", recipient)
    result, questions = open_with_it(status=2)
    assert questions == []
    for each in result, stream("-d", "-k", "encrypted", "input", status=2, start_new_session=True):
        assert (each.error, each.hint) == ("--key: encrypted is not encrypted with a passphrase", ONLY)


def test_encrypted_twice(recipient):
    encrypt("identity", "--passphrase-file", "words")
    pathlib.Path("encrypted").rename("once")
    encrypt("once", "--passphrase-file", "words")
    assert open_with_it(answers=WORDS, status=2)[0].error == "--key: encrypted is encrypted twice"


@pytest.mark.parametrize("kind", ["age", "sealed"])
def test_damaged(recipient, kind):
    encrypt("identity", "--passphrase-file", "words", "-f", kind)
    whole = pathlib.Path("encrypted").read_bytes()
    for damaged in whole[:-1] + bytes([whole[-1] ^ 1]), whole[:-20]:
        pathlib.Path("encrypted").write_bytes(damaged)
        result, _ = open_with_it(answers=WORDS, status=4)
        assert result.error.startswith("encrypted: the input is corrupt or truncated at byte ")
        assert result.out == b""
