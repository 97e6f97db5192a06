"""-d --share I/N --into: one attempt of a share writes at a time, and none after the file is complete."""

import contextlib
import fcntl
import os
import pathlib
import signal
import subprocess

import pytest

from processes import expect_death_by, finish, wait_for, wait_until_idle
from programs import SANITIZED, files_here, some_bytes, start, stream

PLAIN = some_bytes(48 << 20)
OUT = pathlib.Path("out")


@pytest.fixture
def into(key, work):
    """Decrypts a share of the file `sealed`."""
    stream("-k", key, "-o", "sealed", input=PLAIN)

    def decrypt(number, *options, of=2, out="out", **how):
        return stream("-d", "-k", key, "--share", f"{number}/{of}", "--into", out, *options, "sealed", **how)

    return decrypt


class Attempt:
    """An attempt at share 0 of 2 that holds the lock and is stuck in the middle: its trace is not being read."""

    def __init__(self, key):
        os.mkfifo("trace")
        self.fifo = os.open("trace", os.O_RDWR | os.O_NONBLOCK)
        with contextlib.suppress(PermissionError):
            fcntl.fcntl(self.fifo, fcntl.F_SETPIPE_SZ, 1 << 20)  # as the program does
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(self.fifo, bytes(4096))
        self.process = start("gpuaes-stream", "-d", "-k", key, "--share", "0/2", "--into", "out", "-b", "16K", "-l", "cpu:1",
                             "--trace", "trace", "sealed", stderr=subprocess.PIPE, text=True)
        wait_for(lambda: glob_one("out.*/data").stat().st_blocks * 512 > 4 << 20, "part of the share")
        wait_until_idle(self.process)
        self.folder = glob_one("out.*")

    def end(self, status=0):
        reader = os.open("trace", os.O_RDONLY | os.O_NONBLOCK)
        os.set_blocking(reader, True)
        os.close(self.fifo)
        with open(reader, "rb") as trace, subprocess.Popen(["cat"], stdin=trace, stdout=subprocess.DEVNULL):
            assert finish(self.process, "the attempt that held the lock") == status
        return self.process.stderr.read()


def glob_one(pattern):
    found = [path for path in pathlib.Path().glob(pattern) if ".new-" not in path.name]
    return found[0] if len(found) == 1 else pathlib.Path("/dev/null")


@pytest.fixture
def attempt(key, into):
    return Attempt(key)


def start_second(key):
    second = start("gpuaes-stream", "-d", "-k", key, "--share", "0/2", "--into", "out", "sealed",
                   stderr=subprocess.PIPE, text=True)
    return second, second.stderr.readline()


def test_a_second_attempt_waits_and_has_nothing_to_do(key, into, attempt):
    second, note = start_second(key)
    assert note == (f"gpuaes-stream: share 0/2 of out is being written by process {attempt.process.pid} on "
                    f"{os.uname().nodename}; waiting\n")
    attempt.end()
    assert finish(second) == 0
    before = os.stat(attempt.folder / "data")
    assert "0 bytes out" in into(0, "-v").err
    assert os.stat(attempt.folder / "data").st_mtime_ns == before.st_mtime_ns
    into(1)
    assert OUT.read_bytes() == PLAIN and not attempt.folder.exists()


def test_a_second_attempt_does_the_work_if_the_first_is_killed(key, into, attempt):
    second, _ = start_second(key)
    attempt.process.kill()
    assert finish(second) == 0
    into(1)
    assert OUT.read_bytes() == PLAIN and not attempt.folder.exists()


def test_an_attempt_that_waits_ends_by_a_signal(key, attempt):
    second, _ = start_second(key)
    second.send_signal(signal.SIGTERM)
    expect_death_by(second, signal.SIGTERM)


@pytest.mark.skipif(SANITIZED, reason="takes a minute, and other tests run the same code")
def test_a_stopped_attempt_is_named_and_the_file_does_not_appear_before_it_has_ended(into, attempt):
    attempt.process.send_signal(signal.SIGSTOP)
    into(1)
    error = into(0, status=1, timeout=150).error  # it watches for a minute
    assert error == (f"--into: {attempt.folder}/lock.0 is held by process {attempt.process.pid} on {os.uname().nodename}, "
                     "which has not touched it for a minute")
    assert not OUT.exists()
    attempt.process.send_signal(signal.SIGCONT)
    attempt.end()
    assert OUT.read_bytes() == PLAIN and not attempt.folder.exists()


def complete(folder, marked=True):
    """Completes the file as processes do that do not see the lock, for example through another mount; if not `marked`, on
    a file system without modes."""
    (folder / "data").write_bytes(PLAIN)
    if marked:
        os.chmod(folder / "data", 0o644)
    os.link(folder / "data", OUT)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


COMPLETE = "gpuaes-stream: share 0/2 of out is already complete\n"
REPLACED = ("gpuaes-stream: error: out was completed or replaced by another process\n"
            "gpuaes-stream: hint: run the command again\n")


@pytest.mark.parametrize("marked", [True, False], ids=["modes", "no modes"])
@pytest.mark.parametrize("moved", ["stays", "moved", "another directory"])
def test_an_attempt_whose_lock_excluded_no_one_does_not_write_into_the_finished_file(into, attempt, moved, marked):
    complete(attempt.folder, marked)
    changed = bytes(len(PLAIN))
    OUT.write_bytes(changed)
    if moved != "stays":
        OUT.rename("moved")
    if moved == "another directory":
        into(1)
    before = files_here()
    assert attempt.end(0 if marked else 1) == (COMPLETE if marked else REPLACED)
    assert (OUT if moved == "stays" else pathlib.Path("moved")).read_bytes() == changed
    assert files_here() == before


def test_an_attempt_that_waited_does_not_begin_again_after_the_result_was_moved_away(key, attempt):
    second, _ = start_second(key)
    complete(attempt.folder)
    OUT.rename("moved")
    before = files_here()
    attempt.process.kill()
    assert finish(second) == 0 and second.stderr.read() == COMPLETE
    assert pathlib.Path("moved").read_bytes() == PLAIN and files_here() == before


def test_unfinished_data_is_marked_by_its_mode(into):
    into(0)
    [folder] = pathlib.Path().glob("out.*")
    assert (folder / "data").stat().st_mode & 0o777 == 0o645
    into(1)
    assert OUT.stat().st_mode & 0o777 == 0o644


def test_an_attempt_does_not_go_on_after_a_file_has_appeared(into, attempt):
    OUT.write_bytes(b"mine")
    attempt.end(1)
    assert OUT.read_bytes() == b"mine"
    assert not (attempt.folder / "done.0").exists()


def test_a_share_is_not_complete_if_its_statistics_cannot_be_written(into):
    assert "No space left" in into(0, "--stats", "/dev/full", status=1).error
    into(1)
    assert not OUT.exists()
    into(0)
    assert OUT.read_bytes() == PLAIN


@pytest.mark.parametrize("name", ["n" * 255, "n" + "ä" * 127, "\N{DOG FACE}" * 63],
                         ids=["ASCII", "2 bytes", "4 bytes"])
def test_a_name_of_255_bytes(into, name):
    for number in 0, 1:
        into(number, out=name)
        left = set(files_here()) - {"sealed"}
        assert all(each.encode().decode() == each for each in left)  # no character is cut
    assert left == {name} and pathlib.Path(name).read_bytes() == PLAIN
