"""ACLs, FIFOs, block devices, and systems without /proc, for tests of what programs read and write."""

import contextlib
import os
import pathlib
import shlex
import shutil
import subprocess
import threading

import pytest

from programs import PATIENCE, SANITIZED

WITHOUT_PROC = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh")


def shell(command):
    """Runs a command that not every system can run, and skips the test if this one cannot."""
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"cannot run {command}: {done.stderr.strip()}")


@contextlib.contextmanager
def mounted_by(command, folder):
    """A file system at the new directory `folder`, mounted by this command."""
    os.mkdir(folder)
    shell(f"{command} {folder}")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def hide_proc():
    """The command to put before a program, with `wrap`, so that it has no /proc. Without that, a file created with
    O_TMPFILE cannot get a name, so programs use a temporary name instead."""
    if SANITIZED:
        pytest.skip("sanitizers need /proc")
    shell(shlex.join([*WITHOUT_PROC, "true"]))
    return WITHOUT_PROC


def acl(name):
    """The ACL in the form in which the system stores it, or nothing."""
    try:
        return os.getxattr(name, "system.posix_acl_access")
    except OSError:
        return b""


@contextlib.contextmanager
def loop_device(data):
    """A block device whose contents are those of the new file `image`."""
    pathlib.Path("image").write_bytes(data)
    with attached("image") as device:
        yield device


@contextlib.contextmanager
def attached(image, sector=512):
    """A block device whose contents are those of the file, with sectors of that many bytes."""
    if not shutil.which("losetup"):
        pytest.skip("losetup is not installed")
    made = subprocess.run(["losetup", "--find", "--show", "--sector-size", str(sector), image], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"cannot make a loop device: {made.stderr.strip()}")
    device = made.stdout.strip()
    try:
        if not pathlib.Path(device).is_block_device():
            pytest.skip(f"{device} does not exist")
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


@contextlib.contextmanager
def feeding(fifo, data, first=lambda: None):
    """Makes a FIFO, and writes the data to it when a program has opened it. Calls `first` before that."""
    os.mkfifo(fifo)

    def feed():
        with open(fifo, "wb") as file:
            first()
            file.write(data)

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    yield
    thread.join(PATIENCE)
    assert not thread.is_alive(), f"expected a program to read {fifo}"
    os.unlink(fifo)
