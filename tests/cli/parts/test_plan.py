"""What gpuaes-parts plan makes, what it refuses, and how it describes its input."""

import fcntl
import os
import pathlib
import signal
import subprocess
import time

import pytest

from parts_steps import join, plan, seal, write_input
from processes import expect_death_by, redirected, wait_for
from programs import FOLDER, larger_files, some_bytes, sparse, start
from special_files import loop_device

SETTLED = 1_000_000_000  # a modification time long ago


@pytest.mark.parametrize("size, count", [
    (0, 1), (1, 1), (1 << 30, 1), ((1 << 30) + 1, 2), (1000 << 30, 1000), ((1000 << 30) + 1, 1000), (3 << 40, 1000)])
def test_by_default_there_is_a_part_for_each_gibibyte(key, size, count):
    with larger_files():
        sparse("input", size)
    os.utime("input", (SETTLED, SETTLED))
    found = plan(key, "dir", input="input")
    assert (found.out.decode(), found.err) == (f"{count}\n", "")


def test_the_number_of_parts_is_printed_if_it_is_known(key):
    write_input("input", b"text")
    assert plan(key, "a", input="input", count=7).out == b"7\n"
    assert plan(key, "b", count=1 << 20).out == b"1048576\n"
    assert plan(key, "c").out == b""


@pytest.mark.parametrize("redirection, error", [
    (">/dev/full", "cannot write standard output after byte 0: No space left on device"),
    (">&-", "cannot write standard output: Bad file descriptor")])
def test_a_number_of_parts_that_cannot_be_printed_leaves_no_directory(key, redirection, error):
    write_input("input", b"text")
    found = plan(key, "dir", input="input", count=2, status=1, wrap=redirected(redirection))
    assert found.error == error
    assert os.listdir() == ["input"]
    plan(key, "dir", input="input", count=2)


def start_plan_into_pipe(key):
    """A plan, and the other end of its standard output, which is full."""
    reader, writer = os.pipe()
    os.write(writer, bytes(fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20)))  # the program makes smaller pipes larger
    child = start("gpuaes-parts", "plan", "-k", key, "-n", "2", "-o", "dir", stdout=writer)
    os.close(writer)
    wait_for(lambda: os.path.exists("dir/job"), "the job file")
    return child, reader


def test_a_plan_that_is_stopped_while_it_prints_leaves_no_directory(key):
    child, reader = start_plan_into_pipe(key)
    expect_death_by(child, signal.SIGTERM)
    os.close(reader)
    assert os.listdir() == []


def test_a_file_that_cannot_be_removed_does_not_hide_why_a_plan_ended(key):
    child, reader = start_plan_into_pipe(key)
    os.remove("dir/job")
    os.mkdir("dir/job")
    expect_death_by(child, signal.SIGTERM)
    os.close(reader)
    assert os.listdir("dir") == ["job"]


def test_a_plan_waits_until_the_next_modification_can_be_detected(key):
    """File systems store times in units of up to 2 seconds."""
    pathlib.Path("input").write_bytes(b"text")
    begin = time.monotonic()
    plan(key, "dir", input="input")
    assert time.monotonic() - begin > 1.8
    pathlib.Path("input").write_bytes(b"TEXT")
    assert "has changed since the plan was made" in seal("dir", 0, status=1).error


@pytest.mark.parametrize("when", [SETTLED, time.time() + 100_000])
def test_a_modification_long_ago_or_far_in_the_future_is_not_waited_for(key, when):
    pathlib.Path("input").write_bytes(b"text")
    os.utime("input", (when, when))
    begin = time.monotonic()
    plan(key, "dir", input="input")
    assert time.monotonic() - begin < 1.5
    seal("dir", 0)


def test_an_input_that_is_being_modified_is_refused(key):
    pathlib.Path("input").write_bytes(b"text")
    writer = subprocess.Popen(["sh", "-c", "while :; do printf . >>input; sleep 0.2; done"])
    try:
        found = plan(key, "dir", input="input", status=1)
    finally:
        writer.kill()
        writer.wait()
    assert found.error == "input is being modified"
    assert found.hint == "encrypt a snapshot, or a file that is not being written"
    assert os.listdir() == ["input"]


def test_the_name_of_the_input_keeps_symbolic_links(key):
    """Another host may resolve them differently."""
    os.mkdir("real")
    os.symlink("real", "link")
    write_input("real/input", b"text")
    environment = {**os.environ, "PWD": f"{os.getcwd()}/link"}
    command = [FOLDER / "gpuaes-parts", "plan", "-k", key, "-i", "input", "-n", "1", "-o", "../dir"]
    subprocess.run(command, check=True, cwd="link", env=environment, stdout=subprocess.DEVNULL)
    assert f"{os.getcwd()}/link/input".encode() in pathlib.Path("dir/job").read_bytes()
    os.unlink("link")
    assert seal("dir", 0, status=1).error.startswith(f"part 0: cannot open {os.getcwd()}/link/input")


@pytest.fixture
def device():
    with loop_device(some_bytes(99_840)) as name:
        yield name


@pytest.mark.root
def test_a_block_device_must_be_named_again(key, device):
    found = plan(key, "dir", input=device, count=2)
    assert found.warnings == [
        f"{device} is a block device, and nothing shows whether it is modified while it is being sealed"]
    found = seal("dir", 0, status=2)
    assert found.error == f"part 0: the input is a block device, {device}, which must be named"
    assert found.hint == "name it with -i; on another host, it may have another name"
    for i in range(2):
        seal("dir", i, "-i", device)
    join("dir")
