"""Secrets that were given instead of the name of a file do not appear in messages."""

import pathlib

import pytest

from programs import IV, KEY, files_here, keygen, stream

NEW_KEY = "other users may have seen this command line; make a new key with gpuaes-keygen and name its file"
NEW_IDENTITY = "other users may have seen this command line; make a new identity with gpuaes-keygen --x25519 or --post-quantum"
GIVEN = "an identity was given instead of the name of its file"

SECRET = "QQPQ7L3JKW9F"

WORDS = [
    f"AGE-SECRET-KEY-1{SECRET}",
    f"age-secret-key-pq-1{SECRET.lower()}",
    f"AGE-SECRET-KEY-PQ-1{SECRET}",
    f"AGE-PLUGIN-YUBIKEY-1{SECRET}",
    f"age-plugin-tpm-1{SECRET.lower()}",
    f"-----BEGIN OPENSSH PRIVATE KEY-----\n{SECRET}\n-----END OPENSSH PRIVATE KEY-----",
]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("options", [
    "-k {}", "--key={}", "-k key -i {}", "-k key {}", "-k key -o {}/out", "-r {}", "-r @{}", "-R {}", "--{}", "-f {}",
    "-c {}", "-l {}", "-l cpu+{}", "-k [{}", "-k key -- {}", "-k key --range {}", "-k key --label {} --info"])
def test_an_identity_or_a_key_of_a_plugin(key, word, options):
    words = [key if each == "key" else each.format(word) for each in options.split()]
    result = stream(*words, status=None)
    assert result.status in (1, 2)
    assert SECRET.lower() not in result.err.lower()


@pytest.mark.parametrize("word", WORDS)
def test_an_identity_for_keygen(word):
    assert SECRET.lower() not in keygen("-y", word, status=None).err.lower()


@pytest.mark.parametrize("name", ["my-secret-key-1", "two words", "age-plugins", "bin/age-plugin-x", " "])
def test_the_rest_of_the_message_remains(name):
    shown = name.replace("-1", "-...")
    assert stream("-k", name, status=1).error == f"--key: cannot open {shown}: No such file or directory"


def test_a_key_in_hexadecimal(key):
    secret = KEY.hex()
    raw = ["-f", "raw", "--iv", IV]
    for word in (secret, f"0x{secret}", f"{secret} ", f"key:{secret}"):
        for options, where in (
            (["-k", word], "--key"),
            ([*raw, f"--key={word}"], "--key"),
            (["--passphrase-file", word], "--passphrase-file"),
            (["-k", key, "-i", word], "--input"),
        ):
            result = stream(*options, status=2)
            assert (result.error, result.hint) == (f"{where}: a key was given instead of a file name", NEW_KEY)
    sealed = stream("-k", key, input=b"data").out
    pathlib.Path("sealed").write_bytes(sealed)
    for options in ["-tk", key], ["--info", "--json"], ["--rekey", "-k", key, "--new-key", key], ["--output-dir", "out", "-dk", key]:
        result = stream(*options, "sealed", secret, status=2)
        assert (result.out, result.error) == (b"", "a key was given instead of a file name")
    for options, shown in (["-K" + secret], "-K"), (["-K", secret], "-K"), (["--K=" + secret], "--K"):
        assert stream(*raw, *options, status=2).error == f"unknown option '{shown}'"


@pytest.mark.parametrize("options, status, error, hint", [
    ("-k {0}", 2, f"--key: {GIVEN}", NEW_IDENTITY),
    ("-d -k {1} -o out", 2, f"--key: {GIVEN}", NEW_IDENTITY),
    ("-d --key {0} -o out", 2, f"--key: {GIVEN}", NEW_IDENTITY),
    ("-d --passphrase-file {0} -o out", 2, f"--passphrase-file: {GIVEN}", NEW_IDENTITY),
    ("-R {0}", 2, f"--recipients-file: {GIVEN}", NEW_IDENTITY),
    ("-r @{0}", 2, f"--recipient: {GIVEN}", NEW_IDENTITY),
    ("-k key -i {0}", 2, f"--input: {GIVEN}", NEW_IDENTITY),
    ("-k key -i {1}", 2, f"--input: {GIVEN}", NEW_IDENTITY),
    ("-k key -r @x{0}", 1, "--recipient: cannot open xAGE-SECRET-KEY-...: No such file or directory", ""),
    ("-k key -k x{0}", 1, "--key: cannot open xAGE-SECRET-KEY-...: No such file or directory", ""),
    ("-k key -o {0}/x", 1,
     "--output: cannot create a temporary file next to AGE-SECRET-KEY-...: No such file or directory", ""),
    ("-k key --stats {0}/x", 1,
     "--stats: cannot create a temporary file next to AGE-SECRET-KEY-...: No such file or directory", ""),
])  # fmt: skip
def test_a_valid_identity(key, options, status, error, hint):
    secret = keygen("--x25519").out.decode().splitlines()[-1]
    words = [key if word == "key" else word.format(secret, secret.lower()) for word in options.split()]
    result = stream(*words, status=status)
    assert (result.error, result.hint) == (error, hint)
    assert files_here() == []
