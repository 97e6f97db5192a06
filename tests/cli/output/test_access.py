"""A replaced file keeps its access, and a new one gets the access that the shell's > gives: on a disk and tmpfs, with
/proc and without, where the unfinished file has a temporary name."""

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

from processes import bytes_in_pipe, feed, finish
from programs import RAW, expect_same, files_here, secret_file, some_bytes, start, stream
from special_files import acl, hide_proc, shell

PLAIN = some_bytes(100_000)


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


@pytest.fixture(params=["decrypt", "decrypt without /proc", "rekey"])
def replace(request, key, sealed, work):
    """Calls a function that prepares the sealed file `out`, and replaces the file. Returns its access before and after,
    and its extended attributes after."""
    options = ["-d", "-k", key, "-i", sealed, "-o"]
    if request.param == "rekey":
        new_key = secret_file(work.parent / "new-key", bytes(range(32))[::-1])
        options = ["-q", "--rekey", "-k", key, "--new-key", new_key, "-i"]
    wrap = hide_proc() if "without" in request.param else ()

    def run(prepare):
        shutil.copyfile(sealed, "out")
        prepare()
        before = access("out")
        assert stream(*options, "out", wrap=wrap).err == ""
        after, attributes = access("out"), os.listxattr("out")
        os.unlink("out")
        return before, after, attributes

    return run


@pytest.mark.parametrize("commands", [
    ["chmod 600 out", "chmod 640 out", "chmod 604 out", "chmod 664 out", "chmod 777 out"],
    ["setfacl -m u:65533:rw,m::rw out", "setfacl -m g::---,g:65533:r,m::r out", "setfacl -m u:65533:---,o::r out",
     "setfacl -m u:65533:rwx,g::rwx,m::--- out"],
    ["setfacl -d -m u:65533:rwx,g:65533:rwx . && setfacl -b out && chmod 640 out"],  # it does not get the default ACL
    ["chown 65533:65532 out && chmod 750 out"],
], ids=["mode", "ACL", "default ACL", "owner"])  # fmt: skip
def test_a_replaced_file_keeps_its_access(folder, replace, commands):
    for command in commands:
        before, after, _ = replace(lambda command=command: shell(command))
        assert before == after, command


@pytest.mark.parametrize("mode, kept", [(0o2755, 0o755), (0o4711, 0o711)])
def test_set_id_bits_capabilities_and_extended_attributes_are_dropped(folder, replace, mode, kept):
    def prepare():
        os.chmod("out", mode)
        with contextlib.suppress(OSError):  # not on each file system
            os.setxattr("out", "user.origin", b"far away")
        if os.geteuid() == 0:
            os.setxattr("out", "security.capability", struct.pack("<5I", 0x2000001, 1 << 13, 0, 0, 0))

    before, after, attributes = replace(prepare)
    assert (before[0], after[0]) == (oct(0o100000 | mode), oct(0o100000 | kept))
    assert not {"user.origin", "security.capability"}.intersection(attributes)


@pytest.mark.root
@pytest.mark.parametrize("command, lost, mode", [
    ("chown 3002:3002 out; chmod 606 out", "group, owner, mode", 0o600),  # others may read it, but not the group
    ("chown 3002:3001 out; chmod 660 out", "owner", 0o660),  # the group can be kept
    ("chown 3002:65532 out; chmod 600 out; setfacl -m u:3001:rw,u:65531:r out", "group, owner, mode", 0o600),
])  # fmt: skip
def test_another_user_who_replaces_a_file_gives_no_additional_access(key, sealed, users, command, lost, mode):
    """User 3001 may write the file of user 3002, but not set its owner."""
    shell(f"chown 3001:3001 . {key} {sealed}; : >out; {command}")
    found = stream("-d", "-k", key, "-i", sealed, "-o", "out", user=users[0])
    assert found.warnings == [f"could not preserve the {lost} of out; no additional access was granted"]
    assert (os.stat("out").st_uid, oct(os.stat("out").st_mode)) == (3001, oct(0o100000 | mode))
    assert bool(acl("out")) == ("setfacl" in command)  # without effective access, because the mode gives the group none
    assert subprocess.run([*users[1].prefix, "cat", "out"], capture_output=True).returncode != 0


# --- A new file ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("commands, masks", [
    (["true"], [0o000, 0o022, 0o077]),
    (["if [ $(id -u) = 0 ]; then chgrp 65533 .; fi; chmod g+s ."], [0o022]),
    (["setfacl -d -m o::--- .", "setfacl -d -m u::rw,g::rwx,o::r .", "setfacl -d -m g::rw,m::r,g:65533:rwx .",
      "setfacl -d -m u::rwx,g::---,o::rwx,m::rw,u:65533:rw .", "setfacl -d -m u::r,g::r,o::--- ."], [0o022, 0o077]),
], ids=["umask", "set-group-ID", "default ACL"])  # fmt: skip
def test_a_new_file_has_the_usual_access(folder, wrap, key, sealed, commands, masks):
    for command in commands:
        shell(f"setfacl -b .; {command}")
        for mask in masks:
            os.umask(mask)
            pathlib.Path("expected").touch()
            stream("-q", "-d", "-k", key, "-i", sealed, "-o", "out", wrap=wrap)
            assert access("out") == access("expected"), (command, mask)
            os.chmod("out", 0o400)
            expect_same(PLAIN, pathlib.Path("out").read_bytes())
            assert files_here() == ["expected", "out"]
            os.unlink("out")
            os.unlink("expected")


def test_after_sigkill_only_the_owner_can_read_what_was_written(key, wrap):
    """It has no name, or a temporary one that contains its target."""
    os.umask(0)
    subprocess.run("setfacl -d -m u:65533:rw .", shell=True, capture_output=True)  # if the file system has ACLs
    options = ["-q", "-d", *RAW[:-1], "-k", key, "-b", "64K", "-o", "backup.tar"]
    child = start("gpuaes-stream", *options, stdin=subprocess.PIPE, wrap=wrap)
    feed(child, some_bytes(4 << 20))
    assert bytes_in_pipe(child.stdin) == 0
    for name in files_here():
        assert re.fullmatch(r"\.backup\.tar\.gpuaes-[A-Za-z0-9]{6}", name) and os.stat(name).st_mode == 0o100600
    assert len(files_here()) == (1 if wrap else 0)
    child.kill()
    assert finish(child) == -signal.SIGKILL and len(files_here()) == (1 if wrap else 0)
