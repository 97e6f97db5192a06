"""The input is an argument, -i or standard input, and the output is -o or standard output."""

import os
import pathlib
import shutil

import pytest

from programs import IV, REPEAT_K, expect_same, files_here, openssl_ctr, raw, some_bytes, stream

PLAIN = some_bytes(100000)


@pytest.fixture
def encrypted():
    """Makes a file with the plaintext, and returns the ciphertext of the raw format."""
    pathlib.Path("plain").write_bytes(PLAIN)
    return openssl_ctr(PLAIN)


def test_ways_to_name_input_and_output(key, encrypted):
    expect_same(encrypted, raw(key, "plain").out, "argument")
    expect_same(encrypted, raw(key, "-i", "plain").out, "-i")
    expect_same(encrypted, raw(key, "-", input=PLAIN, via="file").out, "-")
    shutil.copy("plain", "-")
    expect_same(encrypted, raw(key, "./-").out, "./-")
    os.unlink("-")
    assert raw(key, "-i", "plain", "-o", "new").out == b""
    raw(key, "--decrypt", "--input=new", "--output", "decrypted")
    raw(key, "-o", "mixed", input=PLAIN, via="file")
    raw(key, "-o", "empty")
    # A flag may be repeated.
    stream("plain", "-e", "-e", "-q", "-q", "-P", "-f", "raw", "--iv", IV, "-o", "out", "-k", key)
    for name, expected in (("new", encrypted), ("decrypted", PLAIN), ("mixed", encrypted), ("empty", b""),
                           ("out", encrypted)):
        expect_same(expected, pathlib.Path(name).read_bytes(), name)
    assert files_here() == ["decrypted", "empty", "mixed", "new", "out", "plain"]


def test_the_input_is_an_argument_in_every_mode(key, encrypted):
    pathlib.Path("sealed").write_bytes(stream("-q", "-k", key, "plain").out)
    for options, expected in (
        ("-d sealed", PLAIN),
        ("sealed -dd -o back", b""),
        ("--range 10:20 sealed", PLAIN[10:30]),
        ("--salvage sealed", PLAIN),
        ("-t sealed", b""),
        (f"--rekey --new-key {key} sealed", b""),  # in place
        ("-d sealed", PLAIN),
    ):
        expect_same(expected, stream("-q", "-k", key, *options.split()).out, options)
    expect_same(PLAIN, pathlib.Path("back").read_bytes())
    assert stream("--info", "sealed").out
    assert files_here() == ["back", "plain", "sealed"]


@pytest.mark.parametrize("content", [
    some_bytes(32),
    *(b"0123456789abcdef" * (digits // 16) + end for digits in (32, 48, 64) for end in (b"", b"\n", b" \r\n"))])
def test_files_are_verified_even_if_other_inputs_are_keys(key, content):
    """As in -k *.key FILE, where only the first key belongs to -k."""
    pathlib.Path("z.key").write_bytes(content)
    pathlib.Path("sealed").write_bytes(stream("-q", "-k", key, input=PLAIN).out)
    found = stream("-t", "-k", key, "z.key", "sealed", status=4)
    assert (found.out, found.error, found.hint) == (
        b"sealed: ok\n", "z.key: the input looks like a key, not like an encrypted file", REPEAT_K)
