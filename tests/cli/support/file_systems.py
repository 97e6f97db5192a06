"""File systems that lack something, directories and calls that are restricted, and what -o leaves in them."""

import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

import pytest

from processes import wait_for
from programs import SANITIZED, expect_same, sparse
from special_files import shell

RESTRICT = pathlib.Path(__file__).parent / "restrict.py"
SFTP_SERVERS = "/usr/lib/openssh/sftp-server", "/usr/lib/ssh/sftp-server", "/usr/libexec/openssh/sftp-server"
KEPT = "gpuaes-kept"


# --- FUSE file systems -----------------------------------------------------------------------------------------------


def find(program):
    """The path of a program that a file system needs."""
    found = shutil.which(program, path=f"{os.environ['PATH']}:/sbin:/usr/sbin")
    return found or pytest.skip(f"{program} is not installed")


@contextlib.contextmanager
def bindfs(folder, storage):
    """It has links, but no O_TMPFILE and no rename without replacement, like the others."""
    shell(f"{find('bindfs')} {storage} {folder}")
    with unmounting(folder):
        yield


@contextlib.contextmanager
def exfat(folder, storage):
    """Neither links nor modes. All files have the mode 0755, as desktops mount it."""
    make, mount = find("mkfs.exfat"), find("mount.exfat-fuse")
    sparse(storage / "image", 256 << 20)
    shell(f"{make} {storage}/image")
    device = subprocess.run([find("losetup"), "--find", "--show", storage / "image"], capture_output=True, text=True)
    if device.returncode != 0:
        pytest.skip(f"no loop device: {device.stderr.strip()}")
    try:
        shell(f"{mount} -o umask=0022 {device.stdout.strip()} {folder}")
        with unmounting(folder):
            yield
    finally:
        subprocess.run([find("losetup"), "--detach", device.stdout.strip()], check=True)


@contextlib.contextmanager
def sshfs(folder, storage, *options):
    """Its server is a child of this process, without a network."""
    server = next(filter(os.path.exists, SFTP_SERVERS), None) or pytest.skip("openssh-sftp-server is not installed")
    command = [find("sshfs"), f"local:{storage}", folder, "-f", "-o", "passive", *options]
    ours, theirs = socket.socketpair()
    with ours, theirs, contextlib.ExitStack() as children:
        for words, end in ([server], ours), (command, theirs):
            child = children.enter_context(subprocess.Popen(words, stdin=end, stdout=end))
            children.callback(child.kill)
        wait_for(lambda: os.path.ismount(folder) or child.poll() is not None, "sshfs is mounted")
        if child.poll() is not None:
            pytest.skip("sshfs cannot be mounted")
        with unmounting(folder):
            yield


def sshfs_without_links(folder, storage):
    return sshfs(folder, storage, "-o", "disable_hardlink")


@contextlib.contextmanager
def unmounting(folder):
    try:
        yield
    finally:
        if subprocess.run(["umount", folder], capture_output=True).returncode != 0:
            subprocess.run(["umount", "--lazy", folder], check=True)


FUSE = {"bindfs": bindfs, "exFAT": exfat, "sshfs": sshfs, "sshfs without links": sshfs_without_links}


@contextlib.contextmanager
def mounted(kind, folder):
    """Mounts a file system at the new directory `folder`, and unmounts it at the end."""
    if not os.path.exists("/dev/fuse"):
        pytest.skip("/dev/fuse is missing")
    os.mkdir(folder)
    with tempfile.TemporaryDirectory(prefix="gpuaes-storage-") as storage:
        with FUSE[kind](pathlib.Path(folder).resolve(), pathlib.Path(storage).resolve()):
            yield


def expect_files(folder, names):
    """A FUSE file system removes a file that was open a moment after it was closed."""
    names = sorted(names)
    with contextlib.suppress(AssertionError):
        wait_for(lambda: sorted(os.listdir(folder)) == names, "", 5)
    assert sorted(os.listdir(folder)) == names


# --- Restrictions ----------------------------------------------------------------------------------------------------


def restricted(*restrictions):
    """The command to put before a program, with `wrap`, that restricts it as restrict.py says."""
    if SANITIZED:
        pytest.skip("sanitizers need system calls that are restricted")
    command = (sys.executable, RESTRICT, *restrictions, "--")
    probe = subprocess.run([*command, "true"], capture_output=True, text=True)
    if probe.returncode != 0:
        pytest.skip(f"cannot restrict a program by {' '.join(restrictions)}: {probe.stderr.strip()}")
    return command


@contextlib.contextmanager
def append_only(folder):
    """A new directory where files cannot be renamed or removed."""
    os.mkdir(folder)
    shell(f"chattr +a {folder}")
    try:
        yield
    finally:
        subprocess.run(["chattr", "-a", folder], check=True)


# --- What is kept ----------------------------------------------------------------------------------------------------


def kept_files(folder="."):
    return sorted(name for name in os.listdir(folder) if name.endswith(KEPT))


def expect_kept(found, name, is_right, mode=0o600):
    """A complete output that could not become the file `name` is next to it, and the hint says where. Removes it."""
    folder, base = os.path.split(name)
    kept = os.path.join(folder, f".{base}.{KEPT}")
    assert kept_files(folder or ".") == [f".{base}.{KEPT}"], found.err
    assert re.search(rf"the complete output is in (\./)?{re.escape(kept)}$", found.hint), found.err
    assert os.stat(kept).st_mode & 0o777 == mode
    is_right(pathlib.Path(kept).read_bytes())
    os.unlink(kept)


def says_lost(found):
    """Whether the message says that a complete output could not be kept."""
    return re.search(r"could not be kept", found.error + found.hint) is not None


def is_plain(plain):
    return lambda content: expect_same(plain, content)
