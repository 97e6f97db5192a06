"""The output of a command after -- is encrypted as if it came through a pipe, and the command is run as in a shell."""

import os
import pathlib
import re
import signal

import pytest

from processes import redirected
from programs import expect_same, openssl_ctr, raw, some_bytes, stream

PLAIN = some_bytes(300_000)


@pytest.fixture(autouse=True)
def plain(work):
    pathlib.Path("plain").write_bytes(PLAIN)


@pytest.mark.parametrize("size", [0, 16_384, 300_000])
def test_output_of_a_command(key, size):
    plain = PLAIN[:size]
    pathlib.Path("part").write_bytes(plain)
    expect_same(openssl_ctr(plain), raw(key, "--", "cat", "part").out)
    raw(key, "-o", "out", "--", "head", "-c", str(size), "plain")
    expect_same(openssl_ctr(plain), pathlib.Path("out").read_bytes())
    for options in (["-f", "sealed"], ["-f", "cobblestone"], ["-e", "-f", "sealed"]):
        stream("-q", "-k", key, *options, "-o", "out", "--", "cat", "part")
        expect_same(plain, stream("-q", "-k", key, "-d", "-f", options[-1], "-i", "out").out)


def test_standard_input_is_that_of_the_program(key):
    swapped = PLAIN.translate(bytes.maketrans(b"01234", b"56789"))
    expect_same(openssl_ctr(swapped), raw(key, "--", "tr", "0-4", "5-9", input=PLAIN).out)
    with open(key, "rb") as file:
        expect_same(openssl_ctr(PLAIN), raw("-", "--", "cat", "plain", stdin=file).out)
    closed = raw(key, "--", "sh", "-c", "cat 2>/dev/null", status=1, wrap=redirected("<&-"))
    assert (closed.error, closed.hint) == ("the command 'sh' failed with exit status 1", "")


def test_environment_directory_and_arguments(key):
    script = 'echo "$MARK $PWD $#" "$@"; echo noted >&2'
    words = ["sh", "-c", script, "sh", "-d", "--key", "--", "", "c  d"]
    result = raw(key, "--", *words, env={**os.environ, "MARK": "a  b"})
    assert (result.out, result.err) == (openssl_ctr(f"a  b {os.getcwd()} 5 -d --key --  c  d\n".encode()), "noted\n")


def test_a_command_may_close_its_output_before_it_ends(key):
    raw(key, "-o", "out", "--", "sh", "-c", "cat plain; exec >&-; sleep 0.3; touch ended")
    assert os.path.exists("ended")
    expect_same(openssl_ctr(PLAIN), pathlib.Path("out").read_bytes())


def output_of(key, *command, **how):
    """What the command printed when the program ran it, with as many files open as possible."""
    stream("-q", "-k", key, "-o", "out", "--stats", "stats", "--trace", "trace", "--", *command, **how)
    return stream("-d", "-q", "-k", key, "-i", "out").out.decode()


def test_a_command_has_only_the_standard_descriptors(key):
    assert output_of(key, "ls", "/proc/self/fd").split() == ["0", "1", "2", "3"]  # with the one of ls itself


@pytest.mark.parametrize("ignored", [[], ["HUP"], ["INT"], ["PIPE"]])
def test_a_command_has_the_signal_actions_of_the_program(key, ignored):
    wrap = ["env", "--default-signal", *(f"--ignore-signal={name}" for name in ignored)]
    status = output_of(key, "cat", "/proc/self/status", wrap=wrap)
    found = {name: int(re.search(f"{name}:\\s*(\\w+)", status)[1], 16) for name in ("SigIgn", "SigBlk")}
    # The C library ignores two signals above 31, which it uses itself.
    mask = sum(1 << signal.Signals[f"SIG{name}"] - 1 for name in ignored)
    assert (found["SigIgn"] & (1 << 31) - 1, found["SigBlk"]) == (mask, 0)
