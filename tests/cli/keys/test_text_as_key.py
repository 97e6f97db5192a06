"""A key file whose raw bytes are text is used, with a warning that it may not be what the user meant."""

import os

import pytest

from programs import secret_file, some_bytes, stream

PLAIN = some_bytes(1000)
WARNING = "name contains text, not a random key; use --passphrase-file for a passphrase, and gpuaes-keygen to make a key"


@pytest.mark.parametrize("contents", [
    b"correct horse battery staple 12\n", b"\tTr0ub4dor&3 ~ {[(<correct>)]}\r\n", b"0123456789abcdef0123456789abcdeg"])
def test_text_is_a_key_with_a_warning(contents):
    secret_file("name", contents)
    sealed = stream("-k", "name", input=PLAIN)
    assert sealed.warnings == [WARNING]
    opened = stream("-d", "-k", "name", input=sealed.out)
    assert (opened.out, opened.warnings) == (PLAIN, [WARNING])
    rekeyed = stream("--rekey", "-k", "name", "--new-key", "name", input=sealed.out)
    assert rekeyed.warnings == [WARNING, WARNING]
    assert stream("-q", "-k", "name", input=PLAIN).err == ""


@pytest.mark.parametrize("size", [16, 24, 32])
def test_text_of_each_key_size(size):
    secret_file("name", b"correct horse battery staple..."[: size - 1] + b"!")
    result = stream("-f", "raw", "--iv", "00" * 16, "-k", "name", input=PLAIN)
    assert WARNING in result.warnings


@pytest.mark.parametrize("contents", [
    b"0123456789abcdef" * 2, b"0123456789ABCDEF" * 4, b"0123456789abcdef" * 4 + b" \n", bytes(32), os.urandom(32),
    *(bytes(range(0x20, 0x3F)) + end for end in (b"\x7f", b"\x80", b"\x08", b"\x0e", b"\0")),
])
def test_digits_and_binary_keys_cause_no_warning(contents):
    secret_file("name", contents)
    options = ["-f", "raw", "--iv", "00" * 16, "-k", "name"]
    assert not [each for each in stream(*options, input=PLAIN).warnings if "name contains" in each]
