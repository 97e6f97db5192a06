"""Input from pipes and sockets, whose reads are short, is processed without delay up to its end or an error."""

import os
import pathlib
import select
import shutil
import socket
import struct
import subprocess
from subprocess import PIPE

import pytest

from processes import A_SECOND, bytes_in_pipe, expect_exit, wait_for
from programs import FOLDER, RAW, expect_same, openssl_ctr, raw, some_bytes, start_raw


@pytest.mark.parametrize("size", ["16", "64K"])
def test_a_short_read_is_not_the_end(key, size):
    """The writer pauses after each piece until the program waits for more."""
    pieces = [some_bytes(7 + 2 * i) for i in range(61)] + [b"after a pause", b"!"]
    child = start_raw(key, "-b", size, stdin=PIPE, stdout=PIPE, bufsize=0)
    for piece in pieces:
        child.stdin.write(piece)
        wait_for(lambda: bytes_in_pipe(child.stdin) == 0, "all of the piece to be read")
    expect_same(openssl_ctr(b"".join(pieces)), child.communicate()[0])
    expect_exit(child, 0)


def test_whole_blocks_are_written_immediately(key):
    """They do not wait until a chunk is full or the pipe is closed."""
    data = some_bytes(48 + 10)
    want = openssl_ctr(data)
    child = start_raw(key, stdin=PIPE, stdout=PIPE, bufsize=0)
    for part in (slice(0, 16), slice(16, 48)):
        child.stdin.write(data[part])
        got = b""
        while len(got) < len(data[part]):
            assert select.select([child.stdout], [], [], A_SECOND)[0], f"expected {part}, got {got}"
            got += child.stdout.read(1000)
        assert got == want[part]
    child.stdin.write(data[48:])
    assert child.communicate()[0] == want[48:]
    expect_exit(child, 0)


def test_a_read_error_is_not_the_end(key):
    result = raw(key, "-i", "/proc/self/mem", status=1)
    assert result.error == "cannot read /proc/self/mem at byte 0: Input/output error"


def test_a_connection_that_is_reset(key):
    server = socket.create_server(("127.0.0.1", 0))
    with socket.create_connection(server.getsockname()) as connection:
        child = start_raw(key, "-b", "4K", stdin=connection, stdout=PIPE, stderr=PIPE)
    peer, _ = server.accept()
    data = some_bytes(60000)  # less than the output pipe holds
    peer.sendall(data)
    wait_for(lambda: bytes_in_pipe(child.stdout) == len(data), "all of the output")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
    out, err = child.communicate()
    expect_exit(child, 1)
    assert err == b"gpuaes-stream: error: cannot read standard input at byte 60000: Connection reset by peer\n"
    expect_same(openssl_ctr(data), out, "output before the error")


def test_an_archive_survives(key):
    for program in ("tar", "diff"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    folder = pathlib.Path("tree/a/b/c")
    for name in (folder, "tree/empty", "there"):
        os.makedirs(name)
    for size in (0, 1, 15, 16, 17, 100, 65536, 1_000_003):
        pathlib.Path(f"tree/a/b/file {size}").write_bytes(some_bytes(size))
    os.symlink("b/file 100", "tree/a/link")
    (folder / "script").write_text("#!/bin/sh\n")
    (folder / "script").chmod(0o755)
    through = 'set -o pipefail; tar -cf - tree | tee archive | "$@" | tee sealed | "$@" -d | tar -xf - -C there'
    subprocess.run(["bash", "-c", through, "bash", FOLDER / "gpuaes-stream", *RAW, "-k", key], check=True)
    subprocess.run(["diff", "-r", "--no-dereference", "tree", "there/tree"], check=True)
    expect_same(openssl_ctr(pathlib.Path("archive").read_bytes()), pathlib.Path("sealed").read_bytes())
