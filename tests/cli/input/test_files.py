"""A file with any name is read to its end even if it grows. One that shrinks or cannot be read is an error."""

import fcntl
import os
import pathlib
import re
from subprocess import PIPE

import pytest

from processes import bytes_in_pipe, evict, expect_exit, wait_for
from programs import RAW, append, expect_same, files_here, openssl_ctr, raw, some_bytes, start_raw, stream

LONG = "n" * 255  # the longest name
NAMES = ["two words", " ", "umlaut ä", "not UTF-8 \udcff", "line\nfeed", LONG, "*", "a=b", "%s", "-x", "--decrypt"]
DIRECTORY_HINT = ("to encrypt a directory, run gpuaes-stream ... -- tar -c DIR; to encrypt each file in it, use "
                  "--output-dir")


def test_any_name(key):
    plain = some_bytes(1000)
    for name in NAMES:
        raw(key, *([f"--output={name}"] if name.startswith("-") else ["-o", name]), input=plain)
        assert files_here() == [name] and pathlib.Path(name).read_bytes() == openssl_ctr(plain)
        assert raw(key, "-d", f"--input={name}").out == plain
        os.unlink(name)
    assert raw(key, "-o", f"{LONG}n", status=1).error == f"--output: cannot open {LONG}n: File name too long"


def test_a_directory_as_standard_input(key):
    directory = os.open(".", os.O_RDONLY)
    result = raw(key, stdin=directory, status=1)
    os.close(directory)
    assert (result.out, result.error, result.hint) == (b"", "standard input is a directory", DIRECTORY_HINT)


def test_a_file_without_permission(key, work, request):
    user = request.getfixturevalue("users")[0] if os.geteuid() == 0 else None  # root can read it
    os.chown(key, user.uid if user else -1, -1)
    pathlib.Path("file").touch(0o000)
    for option, options in (("--input", ["-k", key, "-i"]), ("--key", ["-k"])):
        result = stream(*RAW, *options, f"{work}/file", status=1, user=user)
        assert result.error == f"{option}: cannot open {work}/file: Permission denied"


# --- Files that change while they are read -------------------------------------------------------------------------

CHUNKS = [(8 << 20, "256K"), (4 << 20, "4M")]  # a file of one chunk has a ring of one chunk
WAYS = [("cpu:1", "stdin", "cached"), ("cpu:3", "stdin", "not cached"), ("cpu:3", "-i", "cached"), ("cpu:1", "-i", "not cached")]
DATA = some_bytes(10 << 20)


def start_reading(key, size, chunk, lanes, way, cached):
    """Starts to encrypt the first bytes of DATA, and waits until the output pipe is full. Returns the process, and its
    standard input."""
    pathlib.Path("file").write_bytes(DATA[:size])
    if not cached:
        evict("file")
    stdin = os.open("file" if way == "stdin" else "/dev/null", os.O_RDONLY)
    source = ["-i", "file"] if way == "-i" else []
    child = start_raw(key, "-b", chunk, "-l", lanes, *source, stdin=stdin, stdout=PIPE, stderr=PIPE)
    pipe = child.stdout  # which the program enlarges
    wait_for(lambda: bytes_in_pipe(pipe) == fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ), "a full output pipe")
    return child, stdin


@pytest.mark.parametrize("size, chunk", CHUNKS)
@pytest.mark.parametrize("lanes, way, cached", WAYS)
def test_a_file_that_grows_is_read_to_its_new_end(key, size, chunk, lanes, way, cached):
    child, stdin = start_reading(key, size, chunk, lanes, way, cached == "cached")
    append("file", DATA[size:])
    expect_same(openssl_ctr(DATA), child.communicate()[0])
    expect_exit(child, 0)
    assert way == "-i" or os.lseek(stdin, 0, os.SEEK_CUR) == len(DATA)
    os.close(stdin)


@pytest.mark.parametrize("lanes, way, cached", WAYS)
def test_a_file_that_shrinks_is_an_error(key, lanes, way, cached):
    """The output before the error is correct."""
    child, stdin = start_reading(key, len(DATA), "256K", lanes, way, cached == "cached")
    left = (5 << 20) + 12345
    os.truncate("file", left)
    out, err = child.communicate()
    os.close(stdin)
    expect_exit(child, 1)
    assert len(out) <= left
    expect_same(openssl_ctr(DATA)[: len(out)], out)
    assert re.fullmatch(rb"gpuaes-stream: error: .* shrank while it was being read, from 10485760 to \d+ bytes\n", err)
