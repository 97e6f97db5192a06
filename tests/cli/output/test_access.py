"""Who has access to the output: a replaced file keeps its access, and a new one gets what the shell's > gives. On the file
system of the temporary directory and on tmpfs, with a file that has no name until it is complete, and without /proc."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import tempfile

import pytest

from processes import unfinished_bytes, wait_until_idle
from programs import PATIENCE, RAW, expect_same, files_here, secret_file, some_bytes, start, stream
from special_files import acl, hide_proc, set_acl

PLAIN = some_bytes(100_000)
ACLS = ["u:65533:rw,m::rw", "g::---,g:65533:r,m::r", "u:65533:---,o::r", "u:65533:rwx,g::rwx,m::---"]
DEFAULT_ACLS = ["o::---", "u::rw,g::rwx,o::r", "u::rwx,g::---,o::rwx,m::rw,u:65533:rw", "g::rw,m::r,g:65533:rwx",
                "u::r,g::r,o::---"]  # fmt: skip


def access(name):
    status = os.stat(name)
    return oct(status.st_mode), status.st_uid, status.st_gid, acl(name)


@pytest.fixture(params=["disk", "tmpfs"])
def folder(request, work):
    """An empty current directory, on each file system."""
    if request.param == "tmpfs" and not os.access("/dev/shm", os.W_OK):
        pytest.skip("cannot write to /dev/shm")
    with tempfile.TemporaryDirectory(prefix="gpuaes-", dir="/dev/shm" if request.param == "tmpfs" else work) as name:
        os.chdir(name)
        yield


@pytest.fixture(params=["", "without /proc"])
def wrap(request):
    return hide_proc() if request.param else ()


@pytest.fixture
def sealed(key, work):
    stream("-q", "-k", key, "-e", "-o", work.parent / "sealed", input=PLAIN)
    return work.parent / "sealed"


# --- A file that is replaced -----------------------------------------------------------------------------------------


@pytest.fixture(params=["decrypt", "rekey", "decrypt without /proc"])
def replace(request, key, sealed, work):
    """Replaces the sealed file `out`."""
    wrap = hide_proc() if "without" in request.param else ()
    new_key = secret_file(work.parent / "new-key", bytes(range(32))[::-1])
    options = ["--rekey", "-k", key, "--new-key", new_key, "-i"] if request.param == "rekey" else [
        "-d", "-k", key, "-i", sealed, "-o"]  # fmt: skip

    def run(set_up):
        shutil.copyfile(sealed, "out")
        set_up()
        before = access("out")
        assert stream(*options, "out", wrap=wrap).err == ""
        after = access("out")
        attributes = os.listxattr("out")
        os.unlink("out")
        return before, after, attributes

    return run


def test_a_replaced_file_keeps_its_mode_and_owner(folder, replace):
    for mode in 0o600, 0o640, 0o604, 0o664, 0o777:
        before, after, _ = replace(lambda mode=mode: os.chmod("out", mode))
        assert after == before
    if os.geteuid() == 0:
        before, after, _ = replace(lambda: (os.chown("out", 65533, 65532), os.chmod("out", 0o750)))
        assert after == before and after[1:3] == (65533, 65532)


def test_a_replaced_file_keeps_its_acl_and_does_not_get_the_default_one(folder, replace):
    for entries in ACLS:
        before, after, _ = replace(lambda entries=entries: set_acl("out", "-m", entries))
        assert before == after and after[3], entries
    set_acl(".", "-d", "-m", "u:65533:rwx,g:65533:rwx")
    before, after, _ = replace(lambda: (set_acl("out", "-b"), os.chmod("out", 0o640)))
    assert before == after and not after[3]


@pytest.mark.parametrize("mode, kept", [(0o2755, "0o100755"), (0o4711, "0o100711")])
def test_set_id_bits_capabilities_and_extended_attributes_are_dropped(folder, replace, mode, kept):
    def set_up():
        os.chmod("out", mode)
        with contextlib.suppress(OSError):  # not on each file system
            os.setxattr("out", "user.origin", b"far away")
        if os.geteuid() == 0:
            os.setxattr("out", "security.capability", struct.pack("<5I", 0x2000001, 1 << 13, 0, 0, 0))

    before, after, attributes = replace(set_up)
    assert (before[0], after[0]) == (oct(0o100000 | mode), kept)
    assert not {"user.origin", "security.capability"}.intersection(attributes)


@pytest.mark.root
@pytest.mark.parametrize("group, mode, entries, lost, mode_after", [
    (3002, 0o606, "", "group, owner, mode", 0o600),  # its group may not read it, but others may
    (3001, 0o660, "", "owner", 0o660),  # the group can be kept
    (65532, 0o600, "u:3001:rw,u:65531:r", "group, owner, mode", 0o600),
])  # fmt: skip
def test_another_user_who_replaces_a_file_gives_no_additional_access(
        key, sealed, users, group, mode, entries, lost, mode_after):
    """User 3001 may write the file of user 3002, but not set its owner and group."""
    for name in ".", key, sealed:
        os.chown(name, 3001, 3001)
    pathlib.Path("out").touch()
    os.chown("out", 3002, group)
    os.chmod("out", mode)
    if entries:
        set_acl("out", "-m", entries)
    found = stream("-d", "-k", key, "-i", sealed, "-o", "out", user=users[0])
    assert found.warnings == [f"could not preserve the {lost} of out; no additional access was granted"]
    assert (os.stat("out").st_uid, oct(os.stat("out").st_mode)) == (3001, oct(0o100000 | mode_after))
    assert bool(acl("out")) == bool(entries)  # without effective access, because the mode gives the group none
    assert subprocess.run([*users[1].prefix, "cat", "out"], capture_output=True).returncode != 0


# --- A new file ------------------------------------------------------------------------------------------------------


@pytest.fixture
def expect_usual_access(folder, wrap, key, sealed):
    """Compares the access of a new output and of a new file."""
    def expect():
        open("expected", "w").close()
        stream("-q", "-d", "-k", key, "-i", sealed, "-o", "out", wrap=wrap)
        assert access("out") == access("expected")
        os.chmod("out", 0o400)
        expect_same(PLAIN, pathlib.Path("out").read_bytes())
        assert files_here() == ["expected", "out"]
        os.unlink("out")
        os.unlink("expected")

    return expect


def test_a_new_file_has_the_access_that_umask_and_directory_give(expect_usual_access):
    for mask in 0o000, 0o022, 0o027, 0o077, 0o777:
        os.umask(mask)
        expect_usual_access()
    os.umask(0o022)
    if os.geteuid() == 0:
        os.chown(".", 0, 65533)
    os.chmod(".", os.stat(".").st_mode | 0o2000)
    expect_usual_access()


def test_a_new_file_gets_the_default_acl(expect_usual_access):
    for entries in DEFAULT_ACLS:
        set_acl(".", "-b")
        set_acl(".", "-d", "-m", entries)
        for mask in 0o022, 0o077:
            os.umask(mask)
            expect_usual_access()


def test_after_sigkill_only_the_owner_can_read_what_was_written(key, wrap):
    """It has no name, or a temporary one that contains its target."""
    os.umask(0)
    with contextlib.suppress(pytest.skip.Exception):
        set_acl(".", "-d", "-m", "u:65533:rw")
    options = ["-q", "-d", *RAW[:-1], "-k", key, "-b", "64K", "-o", "backup.tar"]
    child = start("gpuaes-stream", *options, stdin=subprocess.PIPE, wrap=wrap)
    child.stdin.write(some_bytes(4 << 20))
    child.stdin.flush()
    wait_until_idle(child)
    assert child.poll() is None and (os.geteuid() != 0 or unfinished_bytes(child) > 0)
    for name in files_here():
        assert re.fullmatch(r"\.backup\.tar\.gpuaes-[A-Za-z0-9]{6}", name) and os.stat(name).st_mode == 0o100600
    assert len(files_here()) == (1 if wrap else 0)
    child.kill()
    assert child.wait(PATIENCE) == -signal.SIGKILL
    assert len(files_here()) == (1 if wrap else 0)


def test_the_name_can_be_as_long_as_possible(key, sealed, wrap):
    """Although a temporary name is longer than its target."""
    stream("-q", "-d", "-k", key, "-i", sealed, "-o", "x" * 255, wrap=wrap)
    expect_same(PLAIN, pathlib.Path("x" * 255).read_bytes())
    assert files_here() == ["x" * 255]
