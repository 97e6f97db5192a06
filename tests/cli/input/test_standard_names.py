"""The name - means standard input or output where data or secrets are read or output is written."""

import os
import pathlib
import re

import pytest

from programs import AN_IDENTITY, NOT_ENCRYPTED, expect_same, keygen, secret_file, some_bytes, stream

PLAIN = some_bytes(100_000)


@pytest.fixture(autouse=True)
def files(key):
    pathlib.Path("plain").write_bytes(PLAIN)
    secret_file("words", b"correct horse\n")
    keygen("--x25519", "-o", "identity")
    keygen("-o", "new")
    stream("-q", "-k", key, "plain", "-o", "sealed")


def redirected(name, *options, **how):
    """Standard input is the file itself."""
    with open(name, "rb") as file:
        return stream(*options, stdin=file, **how)


def opens(name, *options):
    expect_same(PLAIN, stream("-q", "-d", *options, "-i", name).out, name)


@pytest.mark.parametrize("options", ["-i - -o -", "-i- -o-", "--input=- --output=-"])
def test_data(key, options):
    sealed = redirected("plain", "-q", "-k", key, *options.split()).out
    expect_same(PLAIN, stream("-q", "-k", key, "-d", *options.split(), input=sealed, via="file").out)
    assert not os.path.exists("-")


def test_other_commands_read_standard_input(key):
    redirected("sealed", "-q", "-k", key, "--test", "-i", "-")
    assert redirected("sealed", "-q", "-k", key, "--range", "5:10", "-i", "-").out == PLAIN[5:15]
    size = os.path.getsize("sealed")
    assert re.search(rf"^size +{size} bytes$", redirected("sealed", "--info", "-i", "-").out.decode(), re.M)
    result = redirected("sealed", "-q", "-k", key, "--test", "-o", "-", status=2)
    assert result.error == "--test and --output cannot be used together"


def test_secrets(key):
    options = ["-q", "-d", "-k", "-", "-i"]
    expect_same(PLAIN, redirected(key, *options, "sealed").out, "a key")
    expect_same(PLAIN, stream(*options, "sealed", input=pathlib.Path(key).read_bytes()).out, "a key from a pipe")
    os.chmod("words", 0o644)
    result = redirected("words", "--passphrase-file", "-", "-i", "plain", "-o", "locked")
    assert "the file on standard input is readable by other users" in result.warnings
    os.chmod("words", 0o600)
    expect_same(PLAIN, redirected("words", "-q", "-d", "--passphrase-file", "-", "-i", "locked").out)
    redirected("identity.pub", "-q", "-r", "@-", "-i", "plain", "-o", "public")
    expect_same(PLAIN, redirected("identity", *options, "public").out, "a recipient and its identity")


def test_rekey(key):
    """With -o -, the output is standard output, and the input stays unchanged."""
    before = pathlib.Path("sealed").read_bytes()
    rekey = ["--rekey", "-k", key]
    pathlib.Path("rekeyed").write_bytes(redirected("new", *rekey, "--new-key", "-", "-i", "sealed", "-o", "-").out)
    assert pathlib.Path("sealed").read_bytes() == before
    opens("rekeyed", "-k", "new")
    redirected("words", *rekey, "--new-passphrase-file", "-", "-i", "sealed", "-o", "rekeyed")
    opens("rekeyed", "--passphrase-file", "words")
    pathlib.Path("rekeyed").write_bytes(redirected("sealed", *rekey, "--new-key", "new", "-i", "-").out)
    opens("rekeyed", "-k", "new")


def test_keygen():
    assert re.fullmatch(rb"[0-9a-f]{64}\n", keygen("-o", "-").out)
    made = keygen("--x25519", "-o", "-")
    assert keygen("-y", "-", input=made.out).out.decode() == made.err
    result = keygen("-y", "-", input=b"correct horse\n", status=2)
    assert result.error == "line 1 of standard input is not an identity"
    assert result.hint == AN_IDENTITY


@pytest.mark.parametrize("options, source, status, error, hint", [
    ("-k - -i plain", "words", 2, "--key: the key in standard input has an invalid length of 14 bytes",
     "a key is 16, 24 or 32 raw bytes, or 32, 48 or 64 hexadecimal digits"),
    ("--passphrase-file - -i plain", "/dev/null", 2,
     "--passphrase-file: the passphrase from standard input is empty", ""),
    ("-r @- -i plain", "words", 2,
     "--recipients-file: line 1 of standard input is not a recipient: it does not begin with age1 or ssh-",
     "a recipient is the line that gpuaes-keygen -y prints for an identity"),
    ("-q -d -k new -i -", "plain", 4, "the input is not in a known format",
     NOT_ENCRYPTED),
])  # fmt: skip
def test_messages_name_the_stream(options, source, status, error, hint):
    result = redirected(source, *options.split(), status=status)
    assert (result.error, result.hint) == (error, hint)


def test_a_closed_standard_input():
    close = ["sh", "-c", 'exec "$@" <&-', "sh"]
    result = stream("-k", "-", "-i", "plain", status=1, wrap=close)
    assert result.error == "--key: cannot read standard input: Bad file descriptor"


def test_a_file_with_that_name(key):
    stream("-q", "-k", key, "-i", "plain", "-o", "./-")
    opens("./-", "-k", key)
    secret_file("./-", pathlib.Path(key).read_bytes())
    opens("sealed", "-k", "./-")
