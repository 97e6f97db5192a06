"""Secrets that were given instead of the name of a file do not appear in messages."""

import pytest

from programs import keygen, stream

SECRET = "QQPQ7L3JKW9F"

WORDS = [
    f"AGE-SECRET-KEY-1{SECRET}",
    f"age-secret-key-pq-1{SECRET.lower()}",
    f"GPUAES-SECRET-KEY-1{SECRET}",
    f"GPUAES-SECRET-KEY-PQ-1{SECRET}",
    f"AGE-PLUGIN-YUBIKEY-1{SECRET}",
    f"age-plugin-tpm-1{SECRET.lower()}",
]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    "options",
    [
        ["-k", "{}"],
        ["--key={}"],
        ["-k", "key", "-i", "{}"],
        ["-k", "key", "{}"],
        ["-k", "key", "-o", "{}/out"],
        ["-r", "{}"],
        ["-r", "@{}"],
        ["-R", "{}"],
        ["--{}"],
        ["-f", "{}"],
        ["-c", "{}"],
        ["-l", "{}"],
        ["-l", "cpu+{}"],
        ["-k", "[{}"],
        ["-k", "key", "--", "{}"],
        ["-k", "key", "--range", "{}"],
        ["-k", "key", "--label", "{}", "--info"],
    ],
    ids=" ".join,
)
def test_an_identity_or_a_key_of_a_plugin(key, word, options):
    result = stream(*(each.format(word).replace("key", key, each == "key") for each in options), status=None)
    assert result.status in (1, 2)
    assert SECRET.lower() not in result.err.lower()


@pytest.mark.parametrize("word", WORDS)
def test_an_identity_for_keygen(word):
    assert SECRET.lower() not in keygen("-y", word, status=None).err.lower()


@pytest.mark.parametrize(
    "name, shown",
    [
        ("AGE-PLUGIN-X-1Q", "AGE-PLUGIN-..."),
        ("my-secret-key-1", "my-secret-key-..."),
        ("two words", "two words"),
        ("age-plugins", "age-plugins"),
        ("bin/age-plugin-x", "bin/age-plugin-x"),
        (" ", " "),
    ],
)
def test_the_rest_of_the_message_remains(name, shown):
    assert stream("-k", name, status=1).error == f"--key: cannot open {shown}: No such file or directory"
