"""-d --share I/N --into: several processes decrypt one file into one output."""

import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

from file_systems import restricted
from processes import expect_death_by
from programs import FOLDER, flipped, some_bytes, start, stream

MIB = 1 << 20
PLAIN = some_bytes(5 * MIB + 12345)
OUT = pathlib.Path("out")


@pytest.fixture
def sealed(key):
    """The name of a sealed file with PLAIN."""
    stream("-k", key, "-o", "sealed", input=PLAIN)
    return "sealed"


@pytest.fixture
def into(key, sealed):
    """Decrypts a share of the file, or of another one."""

    def decrypt(number, of, name=sealed, out="out", **how):
        return stream("-d", "-k", key, "--share", f"{number}/{of}", "--into", out, name, **how)

    return decrypt


def folders():
    """Without what a process leaves that is killed while it makes one."""
    return sorted(path for path in pathlib.Path().glob("out.*") if ".new-" not in path.name)


@pytest.mark.parametrize("of", [1, 2, 7])
def test_the_file_appears_when_all_shares_are_complete(into, of):
    for number in range(of - 1, -1, -1):
        assert not OUT.exists()
        assert into(number, of).err == ""
    assert OUT.read_bytes() == PLAIN
    assert folders() == [] and OUT.stat().st_mode & 0o777 == 0o644


def test_shares_begin_at_multiples_of_1_mib(key, sealed):
    for of in 2, 3, 6, 9:
        shares = [stream("-d", "-k", key, "--share", f"{number}/{of}", sealed).out for number in range(of)]
        assert b"".join(shares) == PLAIN
        begins = [sum(map(len, shares[:number])) for number in range(of)]
        assert all(begin % MIB == 0 or begin == len(PLAIN) for begin in begins)


def test_the_old_spelling_is_accepted_with_a_note(key, sealed):
    for options in [], ["--into", "out"]:
        found = stream("-d", "-k", key, "--part", "0/1", *options, sealed)
        assert found.notes == ["use --share I/N; a later release will no longer accept --part I/N"]
        assert (found.out or OUT.read_bytes()) == PLAIN
    assert stream("-d", "-q", "-k", key, "--part", "0/1", sealed).err == ""


def test_a_share_that_never_ran_leaves_no_file(into):
    for number in 0, 2, 0, 2:
        into(number, 3)
    assert not OUT.exists()
    [folder] = folders()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in folder.iterdir()) == ["data", "done.0", "done.2", "lock.0", "lock.2"]
    into(1, 3)
    assert OUT.read_bytes() == PLAIN and folders() == []


def test_a_share_that_failed_is_not_complete(into, key, sealed):
    pathlib.Path("damaged").write_bytes(flipped(pathlib.Path(sealed).read_bytes(), 3 * MIB))
    into(0, 2, "damaged", status=4)
    into(1, 2, "damaged")
    into(0, 2, "damaged", status=4)
    assert not OUT.exists()


def test_a_duplicate_after_the_end_compares_and_succeeds(into):
    for number in range(3):
        into(number, 3)
    before = OUT.stat()
    for number in range(3):
        assert into(number, 3).err == ""
    assert (OUT.stat().st_ino, OUT.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert folders() == []


@pytest.mark.parametrize("content", [b"", bytes(len(PLAIN)), PLAIN + b"\0"], ids=["empty", "same size", "longer"])
def test_another_file_of_that_name_is_not_touched(into, content):
    OUT.write_bytes(content)
    found = into(1, 2, status=1)
    assert found.error.removeprefix("--into: ") == "cannot open out: File exists"  # at once, or when it is compared
    assert OUT.read_bytes() == content and folders() == []


def test_a_file_that_appears_meanwhile_is_not_replaced(into):
    into(0, 2)
    OUT.write_bytes(b"another")
    [folder] = folders()
    into(1, 2, status=1)
    assert OUT.read_bytes() == b"another"
    OUT.unlink()
    into(1, 2)
    assert OUT.read_bytes() == PLAIN and not folder.exists()


def test_two_inputs_are_not_mixed(into, key):
    stream("-k", key, "-o", "other", input=PLAIN[::-1])
    into(0, 2)
    into(1, 2, "other")
    assert not OUT.exists() and len(folders()) == 2
    into(1, 2)
    assert OUT.read_bytes() == PLAIN
    assert into(0, 2, "other", status=1).error == "cannot open out: File exists"
    assert OUT.read_bytes() == PLAIN


def test_a_killed_process_can_be_repeated(into, key, sealed):
    command = [FOLDER / "gpuaes-stream", "-d", "-k", key, "--share", "0/2", "--into", "out", "-l", "cpu:1", "-b", "16K", sealed]
    for delay in 0.001, 0.005, 0.02:
        process = subprocess.Popen(command)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
    into(1, 2)
    into(0, 2)
    assert OUT.read_bytes() == PLAIN and folders() == []


@pytest.mark.parametrize("data", [None, "the file", "another file"])
def test_what_a_killed_process_left_is_removed(into, data):
    """It had given the file its name, but not removed the directory. There may be new data for another file."""
    into(0, 2)
    [folder] = folders()
    into(1, 2)
    folder.mkdir(0o700)
    (folder / "done.0").touch()
    if data == "the file":
        os.link(OUT, folder / "data")
    elif data:
        (folder / "data").touch()
    into(0, 2)
    assert OUT.read_bytes() == PLAIN and folders() == ([folder] if data == "another file" else [])


def test_marks_without_data_do_not_count(into):
    """They are of a file that has been completed and moved away."""
    into(0, 2)
    [folder] = folders()
    (folder / "data").unlink()
    into(1, 2)
    assert not OUT.exists() and sorted(os.listdir(folder)) == ["data", "done.1", "lock.1"]
    into(0, 2)
    assert OUT.read_bytes() == PLAIN and folders() == []


def test_data_that_has_become_a_file_is_not_written_again(into):
    """A process was killed before it removed the directory, and the file has been moved away and modified."""
    into(0, 2)
    [folder] = folders()
    into(1, 2)
    folder.mkdir(0o700)
    os.link(OUT, folder / "data")
    for mark in "done.0", "done.1":
        (folder / mark).touch()
    OUT.rename("final")
    pathlib.Path("final").write_bytes(b"modified")
    for number in 1, 0:
        into(number, 2)
    assert OUT.read_bytes() == PLAIN and pathlib.Path("final").read_bytes() == b"modified" and folders() == []


def test_many_duplicates_at_the_same_time(into):
    for attempt in range(5):
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            list(pool.map(lambda number: into(number % 4, 4), range(12)))
        assert OUT.read_bytes() == PLAIN
        for number in range(4):
            into(number, 4)
        assert folders() == []
        OUT.unlink()


@pytest.mark.root
@pytest.mark.parametrize("owner, mode, error", [(1, 0o700, "belongs to another user"), (0, 0o777, "other users may write to ")])
def test_a_directory_of_others_is_not_used(into, users, owner, mode, error):
    into(0, 2)
    [folder] = folders()
    os.chmod(folder, mode)
    os.chown(folder, users[owner].uid if owner else 0, -1)
    assert error in into(1, 2, status=1).error
    assert not OUT.exists()


def test_links_are_not_followed(into):
    pathlib.Path("mine").write_bytes(b"mine")
    OUT.symlink_to("mine")
    assert into(0, 1, status=1).error.startswith("--into: cannot open out: ")
    OUT.unlink()
    into(0, 2)
    [folder] = folders()
    (folder / "data").unlink()
    (folder / "data").symlink_to("../mine")
    into(1, 2, status=1)
    assert pathlib.Path("mine").read_bytes() == b"mine"


@pytest.mark.parametrize("error", ["ENOSYS", "ENOLCK", "EINVAL", "EOPNOTSUPP", "524"])
def test_without_locks_there_is_a_warning(into, error):
    wrap = restricted(f"locks={error}")
    for number in 0, 1:
        [warning] = into(number, 2, wrap=wrap).warnings
        assert re.fullmatch(rf"cannot lock out\.\w+-2/lock\.{number}: .*; do not run share {number}/2 of out twice at the "
                            "same time", warning)
    assert OUT.read_bytes() == PLAIN and folders() == []


def test_a_lock_that_would_be_a_deadlock_is_held(key, sealed):
    child = start("gpuaes-stream", "-d", "-k", key, "--share", "0/2", "--into", "out", sealed, stderr=subprocess.PIPE,
                  text=True, wrap=restricted("locks=EDEADLK"))
    assert child.stderr.readline().endswith("; waiting\n")
    child.terminate()
    expect_death_by(child, signal.SIGTERM)


def test_a_share_can_be_verified(key, sealed):
    for number in range(3):
        assert stream("--test", "--share", f"{number}/3", "-k", key, sealed).out == b""
    pathlib.Path(sealed).write_bytes(flipped(pathlib.Path(sealed).read_bytes(), 100_000))
    stream("--test", "--share", "0/3", "-k", key, sealed, status=4)
    stream("--test", "--share", "1/3", "-k", key, sealed)
