"""Without a controlling terminal, as in a rescue shell or after setsid, the program asks on the terminal that is its
standard error, or its standard input if that is not used for anything else."""

import os
import pathlib
import signal
import termios

import pytest

from processes import finish, open_terminal, wait_for, wait_until_idle
from programs import STOP_SIGNALS, files_here, secret_file, some_bytes, start, stream
from terminals import await_question, without_control

pytest.importorskip("cryptography")
from damage import QUICK, open_independently  # noqa: E402
import sealed_format as sf  # noqa: E402

PLAIN = some_bytes(1000)
WORDS = "two words"
QUESTION = "Enter passphrase for sealed:"


@pytest.fixture(autouse=True)
def files(work):
    pathlib.Path("sealed").write_bytes(sf.seal(PLAIN, passphrase=WORDS.encode(), log_n=10))
    pathlib.Path("plain").write_bytes(PLAIN)


@pytest.mark.parametrize("on", [["stderr"], ["stdin"], ["stdin", "stderr"]])
@pytest.mark.parametrize("options", [["-d"], ["-d", "-p"], ["--range", "0:"]])
def test_asks_without_echo(on, options):
    result, lines = without_control(*options, "sealed", on=on, answers=["other words", WORDS])
    assert (result.out, lines) == (PLAIN, [QUESTION, "the passphrase does not open the input", QUESTION])


@pytest.mark.parametrize("on", ["stderr", "stdin"])
def test_asks_for_a_new_passphrase(on):
    result, lines = without_control("-q", "-p", *QUICK, "plain", on=[on], answers=[WORDS, WORDS])
    assert lines == ["Enter passphrase:", "Confirm passphrase:"]
    assert open_independently(result.out, passphrase=WORDS.encode()) == (0, PLAIN)


def test_asks_for_the_passphrase_of_an_identity():
    secret_file("key", sf.seal(b"%064x" % 7, passphrase=WORDS.encode(), log_n=10))
    secret_file("raw", b"%064x" % 7)
    stream("-k", "raw", "-o", "file", "plain")
    for on in "stderr", "stdin":
        result, lines = without_control("-d", "-k", "key", "file", on=[on], answers=[WORDS])
        assert (result.out, lines) == (PLAIN, ["Enter passphrase for key:"])


@pytest.mark.parametrize("options, typed", [
    ("-p", b""),
    ("-p -", b""),
    ("-p /dev/stdin", b""),
    ("-p -- cat plain", b""),
    ("-d -p -k - sealed", b"%064x\n\x04" % 7),
    ("-d -p -k /dev/stdin sealed", b"%064x\n\x04" % 7),
])
def test_standard_input_that_is_read_is_not_asked(options, typed):
    """Data that is typed or pasted would be taken for the passphrase."""
    main, slave = open_terminal()
    os.write(main, typed)
    result = stream(*options.split(), stdin=slave, status=1, start_new_session=True)
    assert result.error == "cannot ask for the passphrase: there is no terminal"
    os.close(main)
    os.close(slave)


def test_data_from_the_terminal_follows_the_answers():
    main, slave = open_terminal()
    child = start("gpuaes-stream", "-q", "-p", *QUICK, "-o", "out", stdin=slave, stderr=slave, start_new_session=True)
    for _ in range(2):
        await_question(child, main)
        os.write(main, WORDS.encode() + b"\n")
    wait_for(lambda: termios.tcgetattr(slave)[3] & termios.ECHO, "echo")
    wait_until_idle(child)
    os.write(main, b"data\n\x04")
    assert finish(child) == 0
    assert open_independently(pathlib.Path("out").read_bytes(), passphrase=WORDS.encode()) == (0, b"data\n")
    os.close(main)
    os.close(slave)


@pytest.mark.parametrize("on", ["stderr", "stdin"])
def test_a_signal_restores_the_terminal_and_leaves_no_file(on):
    for number in STOP_SIGNALS:
        without_control("-d", "-o", "out", "sealed", on=[on], answers=[number], status=-number)
        assert files_here() == ["plain", "sealed"], number


def test_a_signal_that_cannot_stop_it_repeats_the_question():
    """There is no shell that could continue it."""
    for number in signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU:
        result, lines = without_control("-d", "sealed", answers=[number, WORDS])
        assert (result.out, lines) == (PLAIN, [f"{QUESTION} {QUESTION}"])


def test_a_terminal_that_hangs_up_ends_it():
    main, slave = open_terminal()
    child = start("gpuaes-stream", "-d", "-o", "out", "sealed", stderr=slave, start_new_session=True)
    await_question(child, main)
    os.close(main)
    os.close(slave)
    assert finish(child) in (1, 2)
    assert files_here() == ["plain", "sealed"]
