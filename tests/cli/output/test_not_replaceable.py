"""-o and --rekey replace only files that > could write, and check this before they read input. If a file cannot be
replaced, it stays unchanged, nothing is left next to it, and the hint says what to do instead."""

import glob
import os
import pathlib
import shlex
import shutil
import subprocess

import pytest

from processes import feed
from programs import PATIENCE, files_here, secret_file, some_bytes, start, stream
from special_files import shell

REDIRECT = "redirect the output with > to write to the file in place"


@pytest.fixture
def sealed(key):
    """The bytes of a sealed file, and in the parent directory a FIFO whose data never arrives."""
    secret_file("../new-key", bytes(range(32))[::-1])
    os.mkfifo("../never")
    os.chmod("../never", 0o644)
    with open("../never", "r+b", buffering=0):
        yield stream("-q", "-k", key, "-e", input=b"some text\n").out


@pytest.fixture
def user(request, key, sealed):
    """A user whom permissions restrict, and who owns the current directory."""
    if os.geteuid() != 0:
        return None
    users = request.getfixturevalue("users")
    for name in key, "../new-key", ".":
        os.chown(name, users[0].uid, users[0].uid)
    return users[0]


def make(name, data, mode=0o644, owner=None):
    pathlib.Path(name).write_bytes(data)
    os.chmod(name, mode)
    if owner:
        os.chown(name, owner.uid, owner.uid)


def state(name):
    status = os.stat(name) if os.path.exists(name) else None
    return status and (status.st_ino, status.st_ctime_ns, status.st_size)


def expect_refusal(key, name, error, hint="", rekeys=True, **how):
    """With -o, and with --rekey if the file exists, unless that replaces it."""
    before = state(name)
    found = stream("-k", key, "-i", "../never", "-o", name, status=1, **how)
    assert (found.error, found.hint) == (f"--output: {error}", hint)
    if os.path.isfile(name) and rekeys:
        found = stream("--rekey", "-k", key, "--new-key", "../new-key", "-i", name, status=1, **how)
        assert (found.error, found.hint) == (f"--input: {error}", "name another file with -o" if hint else "")
    assert state(name) == before and not glob.glob(f"{os.path.dirname(name) or '.'}/.*gpuaes-*")


def test_a_file_that_only_mv_can_replace(key, sealed, user):
    make("locked", sealed, mode=0o444)
    own = user is None  # a file of this user, and not of root, is replaced by --rekey
    expect_refusal(key, "locked", "cannot write locked: Permission denied", rekeys=not own, user=user)
    expect_refusal(key, "fresh/", "cannot open fresh/: Is a directory", user=user)
    make("sleep", pathlib.Path(shutil.which("sleep")).read_bytes(), mode=0o755, owner=user)
    with subprocess.Popen(["./sleep", "60"]) as running:
        expect_refusal(key, "sleep", "cannot write sleep: Text file busy", user=user)
        running.kill()


def test_a_read_only_directory(key, sealed, user):
    os.mkdir("closed")
    make("closed/out", sealed, owner=user)
    os.chmod("closed", 0o555)
    error = "cannot create a temporary file next to closed/{}: Permission denied"
    expect_refusal(key, "closed/out", error.format("out"), REDIRECT, user=user)
    expect_refusal(key, "closed/new", error.format("new"), user=user)
    found = stream("-k", key, "-i", "../never", "-o", "/dev/null", "--stats", "closed/out", status=1, user=user)
    assert (found.error, found.hint) == (f"--stats: {error.format('out')}", "choose another file")
    os.chmod("closed", 0o755)


@pytest.mark.root
def test_a_file_of_another_user_in_a_sticky_directory(key, sealed, user, users):
    os.mkdir("sticky")
    os.chmod("sticky", 0o1777)
    make("sticky/out", sealed, mode=0o666, owner=users[1])
    if subprocess.run([*user.prefix, "sh", "-c", ": >>sticky/out"], capture_output=True).returncode == 0:
        expect_refusal(key, "sticky/out", "cannot replace sticky/out: Operation not permitted", REDIRECT, user=user)
    else:  # fs.protected_regular
        expect_refusal(key, "sticky/out", "cannot write sticky/out: Permission denied", user=user)
    make("sticky/own", b"", owner=user)
    for name in "sticky/own", "sticky/new":
        assert stream("-d", "-k", key, "-o", name, user=user, input=sealed).err == ""


@pytest.mark.root
def test_a_file_of_another_user_in_the_own_sticky_directory(key, sealed, user, users):
    os.mkdir("sticky")
    os.chmod("sticky", 0o1755)
    os.chown("sticky", user.uid, user.uid)
    make("sticky/out", b"old", mode=0o666, owner=users[1])
    stream("-d", "-k", key, "-o", "sticky/out", user=user, input=sealed)
    assert pathlib.Path("sticky/out").read_bytes() == b"some text\n"


@pytest.mark.root
def test_a_mount_point(key, sealed):
    make("mounted", sealed)
    make("over", sealed)
    mount = ("unshare", "-m", "sh", "-c", 'mount --bind over mounted && exec "$@"', "sh")
    shell(shlex.join([*mount, "true"]))
    expect_refusal(key, "mounted", "mounted is a mount point and cannot be replaced", REDIRECT, wrap=mount)


@pytest.mark.root
def test_immutable_and_append_only_files_and_directories(key, sealed):
    os.mkdir("grows")
    make("fixed", sealed)
    make("grows/out", sealed)
    try:
        for attribute, error in ("+i", "cannot create a temporary file next to"), ("+a", "cannot replace"):
            shell(f"chattr -ia fixed grows && chattr {attribute} fixed grows")
            expect_refusal(key, "fixed", "cannot write fixed: Operation not permitted")
            expect_refusal(key, "grows/out", f"{error} grows/out: Operation not permitted", REDIRECT)
        stream("-d", "-k", key, "-o", "grows/new", input=sealed)  # a new file is possible
    finally:
        subprocess.run("chattr -ia fixed grows", shell=True)


# --- What changes during the run -------------------------------------------------------------------------------------


def encrypt(key, output, meanwhile, status=0, **popen):
    """Encrypts, and calls `meanwhile` after the program has opened everything. Returns its messages."""
    child = start("gpuaes-stream", "-k", key, "-o", output, stdin=subprocess.PIPE, stderr=subprocess.PIPE, **popen)
    feed(child, some_bytes(100_000))
    meanwhile()
    error = child.communicate(timeout=PATIENCE)[1].decode()
    assert child.returncode == status, error
    return error


def is_output(name):
    return pathlib.Path(name).read_bytes().startswith(b"gpuaes-stream/1\n")


def test_what_appears_at_the_name_during_the_run(key):
    """A file is replaced, and a directory is not."""
    make("later", b"old")
    error = encrypt(key, "later", lambda: (os.unlink("later"), os.mkdir("later")), status=1)
    assert error == ("gpuaes-stream: error: cannot rename the output to later: Is a directory\n"
                     "gpuaes-stream: hint: the complete output is in .later.gpuaes-kept\n")
    assert is_output(".later.gpuaes-kept") and os.stat(".later.gpuaes-kept").st_mode == 0o100600
    os.rmdir("later")
    assert encrypt(key, "later", lambda: make("later", b"appeared", mode=0o666)) == ""
    assert is_output("later") and os.stat("later").st_mode == 0o100644


def test_a_directory_that_is_renamed_during_the_run_gets_the_output(key):
    """Another file appears at the old path."""
    for directory, mode in ("before", 0o600), ("elsewhere", 0o666):
        os.mkdir(directory)
        make(f"{directory}/out", b"old", mode)
    assert encrypt(key, "before/out", lambda: (os.rename("before", "after"), os.rename("elsewhere", "before"))) == ""
    assert is_output("after/out") and os.stat("after/out").st_mode == 0o100600
    assert pathlib.Path("before/out").read_bytes() == b"old"


@pytest.mark.parametrize("deleted", [False, True])
def test_the_name_of_a_descriptor_refers_to_the_open_file(key, deleted):
    with open("by-number", "w+b") as file:
        if deleted:
            os.unlink("by-number")
        before = files_here()
        assert encrypt(key, f"/dev/fd/{file.fileno()}", lambda: None, pass_fds=[file.fileno()]) == ""
        assert os.pread(file.fileno(), 16, 0) == b"gpuaes-stream/1\n" and files_here() == before
