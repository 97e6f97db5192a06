"""gpuaes-stream continues after signals that are ignored or that stop it for a while. Without a reader it ends."""

import os
import re
import signal
import subprocess
import threading

import pytest

from processes import expect_exit, feed, read_all, thread_states, wait_for, wait_until_idle, wait_until_stalled
from programs import PATIENCE, STOP_SIGNALS, expect_same, openssl_ctr, some_bytes, sparse, start_raw


def test_a_signal_that_was_ignored_stays_ignored(key):
    """As nohup needs."""
    data = some_bytes(100_000)
    children = [start_raw(key, ignore=[number], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                for number in STOP_SIGNALS]
    for child in children:
        child.stdin.write(data[:50_000])
        child.stdin.flush()
    wait_until_idle(*children)
    for child, number in zip(children, STOP_SIGNALS):
        child.send_signal(number)
    wait_until_idle(*children)
    for child, number in zip(children, STOP_SIGNALS):
        got, _ = child.communicate(data[50_000:], PATIENCE)
        assert child.returncode == 0, number.name
        expect_same(openssl_ctr(data), got, number.name)


def stop_and_continue(child):
    for _ in range(5):
        child.send_signal(signal.SIGSTOP)
        wait_for(lambda: set(thread_states(child.pid)) == {"T"}, "all threads stopped")
        child.send_signal(signal.SIGCONT)
        wait_for(lambda: "T" not in thread_states(child.pid), "all threads continued")


def test_a_program_can_be_stopped_and_continued(key):
    data = some_bytes(5_000_000)
    reader, writer = os.pipe()
    child = start_raw(key, "-b", "64K", stdin=subprocess.PIPE, stdout=writer)
    os.close(writer)

    def feed_the_rest():
        child.stdin.write(data[1000:])
        child.stdin.close()

    wait_until_idle(child)
    stop_and_continue(child)  # before any input
    feed(child, data[:1000])
    stop_and_continue(child)  # in the middle of the input
    threading.Thread(target=feed_the_rest, daemon=True).start()
    wait_until_stalled(reader)
    stop_and_continue(child)  # with a stalled reader
    got = read_all(reader)
    expect_exit(child, 0)
    expect_same(openssl_ctr(data), got)


@pytest.mark.parametrize("name, ignore, status, messages", [
    ("/dev/zero", [], -signal.SIGPIPE, ""),
    ("sparse", [], -signal.SIGPIPE, ""),
    ("/dev/zero", [signal.SIGPIPE], 1,
     r"gpuaes-stream: error: cannot write standard output after byte \d+: Broken pipe\n"),
])
def test_the_reader_of_a_pipe_goes_away(key, name, ignore, status, messages):
    sparse("sparse", 1 << 30)
    child = start_raw(key, "-i", name, ignore=ignore, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.read(child.stdout.fileno(), 1)
    child.stdout.close()
    expect_exit(child, status)
    assert re.fullmatch(messages, child.stderr.read().decode())
