"""The directory of a file in parts: who may write there, and what happens if it is moved or replaced meanwhile. Its
members must be regular files."""

import os
import shutil
import subprocess

import pytest

from parts_steps import join, plan, seal, slow_seal, write_input
from programs import PATIENCE, parts, some_bytes, stream

PLAIN = some_bytes(100_000)
WRITERS = {"seal": lambda key: seal("dir", 2, status=1), "join": lambda key: join("dir", status=1),
           "rekey": lambda key: stream("--rekey", "-k", key, "--new-key", key, "dir", status=1)}


def without_name(error):
    return error.removeprefix("part 2: ").removeprefix("dir: ")


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o720, 0o702, 0o1777])
@pytest.mark.parametrize("command", WRITERS)
def test_what_others_may_write_is_not_written(joined, key, command, mode):
    os.chmod("dir", mode)
    found = WRITERS[command](key)
    assert without_name(found.error) == "other users may write to dir"
    assert found.hint == ("remove that permission with chmod go-w; if the file system has no modes, mount it with "
                          "umask=022")
    assert stream("-d", "-k", key, "dir").out == PLAIN
    assert parts("status", "dir").out.endswith(b"joined    yes\n")


@pytest.mark.root
@pytest.mark.parametrize("command", WRITERS)
def test_what_belongs_to_another_user_is_not_written(joined, key, command):
    os.chown("dir", 3001, 3001)
    found = WRITERS[command](key)
    assert without_name(found.error) == "dir belongs to another user"
    assert found.hint == "run the command as that user"
    assert stream("-d", "-k", key, "dir").out == PLAIN


@pytest.mark.root
def test_another_user_can_read_a_copy(joined, key, users):
    subprocess.run(["chmod", "-R", "a+rX", "dir"], check=True)
    os.chmod(key, 0o644)
    for mode in ["-d"], ["--test"], ["-d", "--part", "1"], ["--info"]:
        stream(*mode, *([] if "--info" in mode else ["-k", key]), "dir", user=users[0])
    assert parts("status", "dir", user=users[0]).out.endswith(b"joined    yes\n")


def test_a_warning_if_others_can_read_the_job_file(sealed):
    os.chmod("dir", 0o755)
    os.chmod("dir/job", 0o640)
    assert join("dir").warnings == ["dir/job is readable by other users; run chmod 600 dir/job"]


# --- Moved, replaced -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["link", "link/", "./dir", "dir/../dir"])
def test_a_link_to_the_directory_is_followed(key, name):
    write_input("plain", PLAIN)
    plan(key, "dir", input="plain", count=1)
    os.symlink("dir", "link")
    seal(name, 0)
    join(name)
    assert stream("-d", "-k", key, name).out == PLAIN


@pytest.fixture
def slow(key):
    """A seal that waits for the rest of its input."""
    plan(key, "dir", count=1)
    with slow_seal("dir", 0, written=some_bytes(20_000)) as process:
        yield process


def test_a_directory_that_is_renamed_during_a_seal_gets_its_part(slow, key):
    """Although its name leads to another one."""
    os.rename("dir", "moved")
    os.mkdir("elsewhere", 0o777)
    os.symlink("elsewhere", "dir")
    assert slow.communicate(b"more", timeout=PATIENCE)[1] == b""
    assert sorted(os.listdir("moved")) == ["head", "job", "part.0000000"]
    assert os.listdir("elsewhere") == []
    join("moved")
    assert stream("-d", "-k", key, "moved").out == some_bytes(20_000) + b"more"


def test_a_directory_that_is_removed_during_a_seal(slow):
    shutil.rmtree("dir")
    error = slow.communicate(b"more", timeout=PATIENCE)[1].decode()
    assert slow.returncode == 1 and error.startswith("gpuaes-parts: error: part 0: "), error
    assert os.listdir() == []


# --- Members -------------------------------------------------------------------------------------------------------

def spoil(name, kind):
    """Replaces a member. Returns the error."""
    os.rename(f"dir/{name}", "saved")
    if kind == "link":
        os.symlink("../saved", f"dir/{name}")
        return f"cannot open dir/{name}: Too many levels of symbolic links"
    os.mkfifo(f"dir/{name}")
    return f"dir/{name} is not a regular file"


KINDS = ["link", "FIFO"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["head", "part.0000001", "index"])
def test_members_that_are_not_regular_files_are_not_read(joined, key, name, kind):
    why = spoil(name, kind)
    for mode in ["-d"], ["--test"], ["--range", "60000:10"], ["-d", "--part", "1"]:
        found = stream(*mode, "-k", key, "dir", status=None)
        assert found.status in (1, 4) and found.out == b"", found.err
        assert why in found.error or found.error.endswith(f"dir/{name} is missing"), found.error


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["job", "part.0000000"])
def test_a_job_file_or_part_that_is_not_a_regular_file_is_not_read(sealed, name, kind):
    why = spoil(name, kind)
    before = os.lstat(f"dir/{name}")
    for command in ["seal", "dir", "--part", "0"], ["status", "dir"], ["join", "dir"]:
        assert parts(*command, status=1).error.removeprefix("part 0: ") == why
    assert os.lstat(f"dir/{name}") == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_head_that_is_not_a_regular_file_is_not_replaced(joined, key, kind):
    why = spoil("head", kind)
    found = stream("--rekey", "-k", key, "--new-key", key, "dir", status=1)
    assert why in found.error
