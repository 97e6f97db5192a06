"""The name - means standard input or output where data or secrets are read or output is written."""

import os
import pathlib

import pytest

from programs import expect_same, keygen, secret_file, some_bytes, stream

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


@pytest.mark.parametrize("option, source", [("-k", "identity"), ("--passphrase-file", "words")])
def test_a_file_with_the_name_that_messages_give_standard_input(option, source):
    os.rename(source, "standard input")
    os.chmod("standard input", 0o644)
    how = ["-d", "-i", "sealed"] if option == "-k" else ["-i", "plain", "-o", "locked"]
    result = stream(option, "standard input", *how, status=3 if option == "-k" else 0)
    assert "standard input is readable by other users; run chmod 600 standard input" in result.warnings


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
