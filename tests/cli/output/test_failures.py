"""If a run fails, an existing output keeps its content, a new one is not created, and no other file is left."""

import os
import pathlib
import resource
import shutil
import socket
import struct
import subprocess

import pytest

from processes import expect_exit, wait_until_idle
from programs import IV, expect_same, openssl_ctr, raw, some_bytes, start_raw, stream
from special_files import mounted_by, shell

PLAIN = some_bytes(3_000_001)
NO_SPACE = "free some space, or write to another file system"
TOO_LARGE = "the file system or ulimit does not allow larger files"


@pytest.fixture(autouse=True)
def files(work):
    pathlib.Path("plain").write_bytes(PLAIN)
    pathlib.Path("old").write_bytes(b"old")


def expect_unchanged(folder="."):
    assert pathlib.Path(folder, "old").read_bytes() == b"old"
    assert set(os.listdir(folder)) - {"lost+found", "plain"} == {"old"}


@pytest.mark.parametrize("output", ["new", "old"])
@pytest.mark.parametrize("options, status, error", [
    ("-q -k KEY -i missing", 1, "--input: cannot open missing: No such file or directory"),
    ("-q -k KEY -i plain -b 0", 2, "size '0' is out of range"),
    ("-q -k KEY -i plain --stats missing/stats", 1,
     "--stats: cannot create a temporary file next to missing/stats: No such file or directory"),
])  # fmt: skip
def test_an_error_before_the_first_byte(key, options, status, error, output):
    options = options.replace("KEY", key).split()
    assert stream("-f", "raw", "--iv", IV, *options, "-o", output, status=status).error == error
    expect_unchanged()


@pytest.mark.parametrize("output", ["new", "old"])
def test_an_input_that_breaks_off_in_the_middle(key, output):
    """The peer resets the connection."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as stdin:
        peer = server.accept()[0]
        child = start_raw(key, "-b", "4K", "-o", output, stdin=stdin, stderr=subprocess.PIPE, text=True)
        peer.sendall(PLAIN[:50_000])
        wait_until_idle(child)
        assert not os.path.exists("new"), "the output has its name before the end"
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
        expect_exit(child, 1)
    assert child.stderr.read() == (
        "gpuaes-stream: error: cannot read standard input at byte 50000: Connection reset by peer\n")
    expect_unchanged()


@pytest.mark.root
def test_a_file_system_that_becomes_full(key):
    written = (256 << 10) - os.sysconf("SC_PAGE_SIZE")  # the old file has one page
    with mounted_by("mount -t tmpfs -o size=256k tmpfs", "disk"):
        shutil.move("old", "disk")
        for output in "disk/new", "disk/old":
            found = raw(key, "-b", "64K", "-i", "plain", "-o", output, status=1)
            assert found.error == f"cannot write {output} after byte {written}: No space left on device"
            assert found.hint == NO_SPACE
            expect_unchanged("disk")


@pytest.mark.root
def test_a_disk_without_space_for_the_output(key):
    """The program fails before it writes anything. Space that it reserved but did not need is released."""
    shell("truncate -s 64M large && truncate -s 16M image && PATH=$PATH:/sbin:/usr/sbin mkfs.ext4 -q image")
    with mounted_by("mount -o loop image", "disk"):
        shutil.move("old", "disk")
        for output in "disk/new", "disk/old":
            found = raw(key, "-i", "large", "-o", output, "--stats", "stats", status=1)
            assert found.error == f"cannot write {output}: No space left on device"
            assert found.hint == "67108864 bytes are needed; free some space, or write to another file system"
            expect_unchanged("disk")
        raw(key, "-i", "plain", "-o", "disk/new")
        expect_same(openssl_ctr(PLAIN), pathlib.Path("disk/new").read_bytes())
        assert os.stat("disk/new").st_blocks * 512 < 3_200_000


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (16 << 10, 16 << 10))


@pytest.mark.parametrize("options, stdout, error, hint", [
    ("-i plain", "/dev/full", "standard output after byte 0: No space left on device", NO_SPACE),
    ("-i plain -o /dev/full", "/dev/null", "/dev/full after byte 0: No space left on device", NO_SPACE),
    ("-i plain -o new", "/dev/null", "new after byte 16384: File too large", TOO_LARGE),
    ("-i plain -o old", "/dev/null", "old after byte 16384: File too large", TOO_LARGE),
    ("-i plain -d", "../partial", "standard output after byte 16384: File too large", TOO_LARGE),
])  # fmt: skip
def test_a_failed_write_is_an_error(key, options, stdout, error, hint):
    with open(stdout, "wb") as sink:
        found = raw(key, *options.split(), status=1, stdout=sink, preexec_fn=limit_file_size)
    assert (found.error, found.hint) == (f"cannot write {error}", hint)
    expect_unchanged()
