"""Where a limit leaves too little memory for scrypt, the program says so instead of being killed."""

import os
import re

import pytest

from programs import SANITIZED, openssl_ctr, raw, secret_file, some_bytes, stream

pytestmark = pytest.mark.skipif(SANITIZED, reason="sanitizers need more memory")

MIB = 1 << 20
PLAIN = some_bytes(100)
ERROR = r"deriving a key from the passphrase requires 130 MiB of memory, but only (\d+) MiB is available"
HINT = "raise the memory limit of the service, container or shell (ulimit)"


@pytest.fixture
def words():
    return secret_file("../words", b"correct horse\n")


def assert_refused(result, left):
    assert re.fullmatch(ERROR, result.error) and int(re.fullmatch(ERROR, result.error)[1]) <= left
    assert result.hint == HINT
    assert not os.listdir()


@pytest.mark.root
def test_control_group_without_enough_memory(words, group):
    """The limit of a parent counts, too."""
    sealed = stream("--passphrase-file", words, input=PLAIN).out
    group.limit(64 * MIB)
    for options in ([], ["-d"]):
        result = stream(*options, "--passphrase-file", words, "-o", "out", input=sealed, status=1, wrap=group.run_in)
        assert_refused(result, 64)


@pytest.mark.root
def test_control_group_with_enough_memory(words, group):
    group.limit(200 * MIB)
    sealed = stream("--passphrase-file", words, input=PLAIN, wrap=group.run_in).out
    opened = stream("-d", "--passphrase-file", words, input=sealed, wrap=group.run_in)
    assert opened.out == PLAIN


def test_a_key_requires_no_such_memory(words, key):
    wrap = ["sh", "-c", 'ulimit -v 140000 && exec "$@"', "sh"]
    result = raw(key, "-l", "cpu:1", input=PLAIN, status=None, wrap=wrap)
    if result.status != 0:
        pytest.skip("the program needs more than 140000 KiB without a passphrase")
    assert result.out == openssl_ctr(PLAIN)
    assert_refused(stream("--passphrase-file", words, "-l", "cpu:1", "-o", "out", status=1, wrap=wrap), 136)


@pytest.mark.parametrize("option", ["-v", "-d"])
def test_limit_of_the_shell(words, option):
    wrap = ["sh", "-c", f'ulimit {option} 120000 && exec "$@"', "sh"]
    assert_refused(stream("--passphrase-file", words, "-l", "cpu:1", "-o", "out", status=1, wrap=wrap), 118)
