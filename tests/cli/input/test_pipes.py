"""Input from pipes and sockets, whose reads are short, is processed without delay up to its end or an error."""

import select
from subprocess import PIPE

import pytest

from processes import A_SECOND, bytes_in_pipe, expect_exit, wait_for
from programs import expect_same, openssl_ctr, some_bytes, start_raw


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
