"""SIGUSR1 prints the progress once, on a separate line, at any time, with and without -P and with -q. It interrupts
nothing and does not change the output."""

import os
import re
import select
import signal
import subprocess
import threading
import time

import pytest

from processes import feed, open_terminal, wait_until_idle
from programs import PATIENCE, expect_same, some_bytes, start, stream
from terminals import await_question, in_session

PLAIN = some_bytes(3_000_000)
STATE = re.compile(rb"gpuaes-stream: ([ .\d]{4}[KM]iB| +\d+ B) 0:00:\d\d \[.{7}/s\](?:  cpu:\d+)?\n")
MIB = rb"1\.00MiB|9\d\dKiB|0\.9\dMiB"


def begin(*options, **popen):
    pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
    return start("gpuaes-stream", *options, **{**pipes, **popen})


def amount(child):
    """Sends one signal, which must print one line. Returns the amount in it."""
    child.send_signal(signal.SIGUSR1)
    line = os.read(child.stderr.fileno(), 4096) if select.select([child.stderr], [], [], PATIENCE)[0] else b""
    found = STATE.fullmatch(line)
    assert found, line
    assert child.poll() is None
    return found[1].strip()


def expect_end(child, data=b""):
    """Returns standard output and error of a program that succeeds after more input."""
    out, err = child.communicate(data or None, PATIENCE)
    assert child.returncode == 0, err
    return out, err


def expect_decrypted(key):
    with open("out", "rb") as out:
        expect_same(PLAIN, stream("-d", "-q", "-k", key, stdin=out).out)


@pytest.mark.parametrize("ignore", [(), (signal.SIGUSR1,)], ids=["", "ignored"])
@pytest.mark.parametrize("options", ["-q", "-P"])
def test_in_the_middle_of_a_stream(key, options, ignore):
    with open("out", "wb") as out:
        child = begin("-k", key, "-b", "64K", *options.split(), ignore=ignore, stdout=out)
    feed(child, PLAIN[: 1 << 20])
    for _ in range(3):
        assert re.fullmatch(MIB, amount(child))
    _, err = expect_end(child, PLAIN[1 << 20 :])
    assert (b"2.86MiB" in err) == ("-P" in options and "-q" not in options)
    expect_decrypted(key)


@pytest.mark.parametrize("options", ["-k fifo", "-k KEY -i fifo"])
def test_while_the_program_waits_for_the_other_end_of_a_fifo(key, options):
    os.mkfifo("fifo")
    with open("plain", "wb+") as plain, open("out", "wb") as out:
        plain.write(PLAIN)
        plain.seek(0)
        child = begin("-q", *(key if word == "KEY" else word for word in options.split()), stdin=plain, stdout=out)
    wait_until_idle(child)
    amount(child)
    with open("fifo", "wb") as fifo:
        fifo.write(PLAIN if "-i" in options else open(key, "rb").read())
    expect_end(child)
    expect_decrypted(key)


def test_many_signals_until_the_end(key):
    """With pipes on both sides, the output is complete."""
    def run(data, *options):
        child = begin("-q", "-k", key, "-b", "16K", *options, ignore=[signal.SIGUSR1], stderr=subprocess.DEVNULL)
        thread = threading.Thread(target=send_signals, args=(child,))
        thread.start()
        out, _ = expect_end(child, data)
        thread.join(PATIENCE)
        return out

    def send_signals(child):
        while child.poll() is None:
            child.send_signal(signal.SIGUSR1)
            time.sleep(0.0003)

    expect_same(PLAIN, run(stream("-q", "-k", key, input=PLAIN).out, "-d"))
    for _ in range(10):
        assert run(run(b""), "-d") == b""


def test_while_the_program_asks_for_a_passphrase():
    main, slave = open_terminal()

    def session():
        child = begin("-q", "-p", "-f", "openssl", stdin=subprocess.DEVNULL)
        await_question(child, main)
        amount(child)
        os.write(main, b"words\n")
        await_question(child, main)
        os.write(main, b"words\n")
        expect_end(child)

    in_session(slave, session)
