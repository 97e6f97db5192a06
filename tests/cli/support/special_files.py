"""Files with ACLs, FIFOs, and systems without /proc, for tests of what programs read and write."""

import contextlib
import functools
import os
import shutil
import subprocess
import threading

import pytest

from programs import PATIENCE, SANITIZED

WITHOUT_PROC = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh")


def hide_proc():
    """The command to put before a program, with `wrap`, so that it has no /proc. That is needed to name a file created with
    O_TMPFILE; programs use a temporary name instead. Skips the test if this is impossible. Sanitizers need /proc."""
    return WITHOUT_PROC if can_hide_proc() else pytest.skip("needs root, mount namespaces, and no sanitizer")


@functools.cache
def can_hide_proc():
    if SANITIZED or os.geteuid() != 0 or not shutil.which("unshare"):
        return False
    return subprocess.run([*WITHOUT_PROC, "true"], capture_output=True).returncode == 0


def set_acl(name, *options):
    """Runs setfacl. Skips the test if the file system has no access control lists."""
    if not shutil.which("setfacl"):
        pytest.skip("setfacl is not installed")
    done = subprocess.run(["setfacl", *options, name], capture_output=True, text=True)
    if "not supported" in done.stderr:
        pytest.skip("the file system does not support ACLs")
    assert done.returncode == 0, done.stderr


def acl(name):
    """The access control list, as the system stores it. Empty if there is none."""
    try:
        return os.getxattr(name, "system.posix_acl_access")
    except OSError:
        return b""


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
