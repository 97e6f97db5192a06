"""Standard input and output may be pipes or sockets, blocking or not, and their flags, which others share, are kept."""

import os
import signal
import socket
import threading
import time

import pytest

from processes import evict, expect_death_by, expect_exit, flags, read_all, set_nonblocking, wait_until_idle
from processes import wait_until_stalled, write_all
from programs import expect_same, openssl_ctr, some_bytes, start_raw


def pipes():
    """Standard input, the other end of it, the other end of standard output, and that."""
    return *os.pipe(), *os.pipe()


def sockets():
    return [end.detach() for end in (*socket.socketpair(), *socket.socketpair())]


def one_socket():
    ours, theirs = (end.detach() for end in socket.socketpair())
    return theirs, ours, ours, theirs


@pytest.mark.parametrize("kind, nonblocking", [
    (pipes, ""),
    (pipes, "stdin"),
    (pipes, "stdout"),
    (pipes, "stdin stdout"),
    (sockets, ""),
    (sockets, "stdin stdout"),
    (one_socket, ""),
])
def test_flags_are_kept_and_waiting_takes_no_cpu_time(key, kind, nonblocking):
    """EAGAIN is neither an error nor the end of input."""
    data = some_bytes(3_000_001)
    stdin, feed, drain, stdout = kind()
    for fd, name in ((stdin, "stdin"), (stdout, "stdout")):
        if name in nonblocking:
            set_nonblocking(fd)
    before = flags(stdin), flags(stdout)

    def start_and_wait():
        child = start_raw(key, "-b", "64K", "-l", "cpu:2", stdin=stdin, stdout=stdout)
        wait_until_idle(child)  # without input
        assert (flags(stdin), flags(stdout)) == before
        return child

    def write_slowly():
        for i in range(0, len(data), 99_991):
            write_all(feed, data[i : i + 99_991])
            time.sleep(0.01)
        if kind is pipes:
            os.close(feed)
        else:
            socket.socket(fileno=os.dup(feed)).shutdown(socket.SHUT_WR)

    expect_death_by(start_and_wait(), signal.SIGTERM)
    child = start_and_wait()
    threading.Thread(target=write_slowly, daemon=True).start()
    wait_until_idle(child)  # with a stalled reader
    with open(drain, "rb", closefd=False) as reader:
        expect_same(openssl_ctr(data), reader.read(len(data)))
    expect_exit(child, 0)
    assert (flags(stdin), flags(stdout)) == before
    os.close(stdout)
    assert kind is one_socket or read_all(drain) == b""


@pytest.mark.parametrize("lanes", ["cpu:1", "cpu:3"])
def test_flags_of_a_file_that_is_read_directly_are_kept(key, lanes):
    data = some_bytes(8 << 20)
    with open("file", "wb") as file:
        file.write(data)
    evict("file")
    with open("file", "rb") as stdin:
        before = flags(stdin.fileno())
        drain, stdout = os.pipe()
        child = start_raw(key, "-b", "256K", "-l", lanes, stdin=stdin, stdout=stdout)
        os.close(stdout)
        wait_until_stalled(drain)
        assert flags(stdin.fileno()) == before
        expect_same(openssl_ctr(data), read_all(drain))
        expect_exit(child, 0)
        assert flags(stdin.fileno()) == before
