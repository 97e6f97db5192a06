"""After a signal or a read error during encryption, the output cannot be opened completely. What can be decrypted is a
prefix of the plaintext."""

import os
import pathlib
import socket
import struct
import subprocess
from signal import SIGHUP, SIGINT, SIGKILL, SIGTERM

import pytest

from processes import expect_death_by, expect_exit, read_all, wait_until_idle, wait_until_stalled, write_all
from programs import expect_same, some_bytes, start, stream

SEGMENT = 16384
PLAIN = some_bytes(10 * SEGMENT)


def expect_incomplete(key, sealed, plain):
    opened = stream("-q", "-d", "-k", key, status=4, input=sealed).out
    expect_same(plain[: len(opened)], opened)
    assert len(opened) % SEGMENT == 0


def seal(key, *options, **popen):
    return start("gpuaes-stream", "-q", "-k", key, *options, stderr=subprocess.PIPE, **popen)


def interrupt(key, number, size, *options, **popen):
    """Ends encryption by a signal after `size` bytes of input."""
    r, w = os.pipe()
    child = seal(key, *options, stdin=r, **popen)
    os.close(r)
    write_all(w, PLAIN[:size])
    wait_until_idle(child)
    expect_death_by(child, number)
    os.close(w)


@pytest.mark.parametrize("number, size, chunk", [
    *[(number, 5 * SEGMENT, "16K") for number in (SIGTERM, SIGINT, SIGHUP, SIGKILL)],
    (SIGTERM, 0, "16K"), (SIGTERM, 5 * SEGMENT + 100, "32K"), (SIGTERM, len(PLAIN), "1M"),
])
def test_a_signal(key, number, size, chunk):
    with open("sealed", "wb") as out:
        interrupt(key, number, size, "-b", chunk, stdout=out)
    expect_incomplete(key, pathlib.Path("sealed").read_bytes(), PLAIN)


def expect_failure(child, error):
    expect_exit(child, 1)
    assert child.stderr.read().decode() == f"gpuaes-stream: error: {error}\n"


# The output pipe holds what each of them writes.
@pytest.mark.parametrize("chunk, size", [("16K", 0), ("16K", SEGMENT), ("16K", 50000), ("1M", 3 * SEGMENT)])
def test_a_connection_that_is_reset(key, chunk, size):
    server = socket.create_server(("127.0.0.1", 0))
    stdin = socket.create_connection(server.getsockname())
    peer, _ = server.accept()
    child = seal(key, "-b", chunk, stdin=stdin, stdout=subprocess.PIPE)
    stdin.close()
    peer.sendall(PLAIN[:size])
    wait_until_idle(child)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
    sealed = child.stdout.read()
    expect_failure(child, f"cannot read standard input at byte {size}: Connection reset by peer")
    expect_incomplete(key, sealed, PLAIN)


@pytest.mark.parametrize("left", [(8 << 20) + 12345, 8 << 20])
def test_a_file_that_shrinks(key, left):
    plain = some_bytes(16 << 20)
    pathlib.Path("file").write_bytes(plain)
    r, w = os.pipe()
    child = seal(key, "-b", "64K", "-l", "cpu:2", "-i", "file", stdout=w)
    os.close(w)
    wait_until_stalled(r)
    os.truncate("file", left)
    sealed = read_all(r)
    os.close(r)
    expect_failure(child, f"file shrank while it was being read, from {len(plain)} to {left} bytes")
    expect_incomplete(key, sealed, plain)
