"""gpuaes-keygen writes keys and identities to new files that only their owner can read, or reports an error."""

import os
import pathlib
import re
import resource
import stat
import subprocess

import pytest

from programs import files_here, keygen
from special_files import acl, hide_proc, shell

KEY_FILE = re.compile(r"[0-9a-f]{64}\n")
IDENTITY_FILE = re.compile(r"# created: 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ\n# public key: (age1[02-9ac-hj-np-z]{58}\n)"
                           r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}\n")
EXISTS = "existing files are never overwritten; choose another name"

both_kinds = pytest.mark.parametrize("kind", [(), ("--x25519",)], ids=["key", "identity"])


@pytest.fixture(params=["", "without /proc"])
def wrap(request):
    return hide_proc() if request.param else ()


def test_keys_differ():
    keys = {keygen().out.decode() for _ in range(20)}
    assert len(keys) == 20 and all(KEY_FILE.fullmatch(key) for key in keys)


def test_a_key_file_is_private_with_any_umask(wrap):
    """Without /proc, the file has a temporary name first."""
    for mask in 0o000, 0o022, 0o077, 0o177, 0o027:
        os.umask(mask)
        found = keygen("-o", f"key-{mask}", wrap=wrap)
        assert (found.out, found.err) == (b"", "")
        assert KEY_FILE.fullmatch(pathlib.Path(f"key-{mask}").read_text())
        assert os.stat(f"key-{mask}").st_mode == 0o100600


@both_kinds
def test_a_file_on_standard_output_that_others_can_read_causes_a_warning(kind):
    for mode in 0o644, 0o640, 0o604, 0o600, 0o700:
        with open("output", "wb") as output:
            os.fchmod(output.fileno(), mode)
            warnings = keygen(*kind, stdout=output).warnings
        warned = ["the file on standard output is readable by other users; use -o FILE instead"]
        assert warnings == (warned if mode & 0o044 else []), oct(mode)
        assert pathlib.Path("output").read_bytes()


def test_an_identity_file_and_its_recipient():
    found, other = keygen("--x25519", "-o", "identity"), keygen("--x25519", "-o", "other")
    content = pathlib.Path("identity").read_text()
    assert found.out.decode() == IDENTITY_FILE.fullmatch(content)[1] and found.out != other.out and found.err == ""
    assert pathlib.Path("identity.pub").read_bytes() == keygen("-y", "identity").out == found.out


@both_kinds
@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_a_default_acl_gives_no_one_access(kind, mask):
    os.umask(mask)
    shell("setfacl -d -m u:3001:rwx,g:3001:rwx,o::rwx,m::rwx . && touch control")
    assert acl("control")
    keygen(*kind, "-o", "secret")
    assert os.stat("secret").st_mode == 0o100600 and not acl("secret")
    os.chmod("secret", 0o640)  # makes an ACL effective
    if os.geteuid() == 0:
        as_user = "setpriv --reuid=3001 --regid=3001 --clear-groups".split()
        assert subprocess.run([*as_user, "cat", "secret"], capture_output=True).stdout == b""


@pytest.mark.parametrize("kind, names", [
    ("", "key link dangling directory fifo /dev/null missing/key"), ("--x25519", "key . /dev/null missing/key"),
])  # fmt: skip
def test_files_are_never_replaced(kind, names, wrap):
    keygen("-o", "key")
    before = pathlib.Path("key").read_bytes()
    os.symlink("missing", "dangling")
    os.symlink("key", "link")
    os.mkdir("directory")
    os.mkfifo("fifo")
    for name in names.split():
        found = keygen(*kind.split(), "-o", name, status=1, wrap=wrap)
        reason, hint = ("No such file or directory", "") if "/key" in name else ("File exists", EXISTS)
        assert (found.out, found.error, found.hint) == (b"", f"--output: cannot open {name}: {reason}", hint)
    assert pathlib.Path("key").read_bytes() == before
    assert files_here() == ["dangling", "directory", "fifo", "key", "link"]
    assert os.path.islink("dangling") and stat.S_ISFIFO(os.stat("fifo").st_mode)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
@pytest.mark.parametrize("prepare", ["true", "setfacl -d -m u:3001:rwx,g:3001:rwx,o::rwx,m::rwx ."], ids=["", "acl"])
def test_a_recipient_file_gets_the_access_that_the_shell_gives(prepare, mask, wrap):
    shell(prepare)
    os.umask(mask)
    pathlib.Path("control").touch()
    keygen("--x25519", "-o", "identity", wrap=wrap)
    assert os.stat("identity.pub").st_mode == os.stat("control").st_mode and acl("identity.pub") == acl("control")
    assert os.stat("identity").st_mode == 0o100600 and not acl("identity")


def facts_of(name):
    """What changes if the file is replaced or written, but not if it is only looked at."""
    status = os.lstat(name)
    return status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@pytest.mark.parametrize("exists, named", [(["out"], "out"), (["out.pub"], "out.pub"), (["out", "out.pub"], "out")])
@pytest.mark.parametrize("make", [lambda name: name.write_text("content"), lambda name: name.symlink_to("missing")],
                         ids=["file", "dangling link"])
def test_neither_file_is_written_if_one_exists(exists, named, make, wrap):
    os.mkdir("folder")
    for name in exists:
        make(pathlib.Path("folder", name))
    before = {name: facts_of(f"folder/{name}") for name in exists}
    changed = os.stat("folder").st_mtime_ns
    found = keygen("--x25519", "-o", "folder/out", status=1, wrap=wrap)
    assert (found.out, found.error, found.hint) == (b"", f"--output: cannot open folder/{named}: File exists", EXISTS)
    assert {name: facts_of(f"folder/{name}") for name in os.listdir("folder")} == before
    assert wrap or os.stat("folder").st_mtime_ns == changed, "no file appeared, not even for a moment"


@pytest.mark.parametrize("length", [251, 252, 255, 256])
def test_a_recipient_file_whose_name_is_too_long(length, wrap):
    name = "n" * length
    fits = length + len(".pub") <= 255
    found = keygen("--x25519", "-o", name, status=0 if fits else 1, wrap=wrap)
    if not fits:
        assert found.error == f"--output: cannot create {name}.pub: File name too long"
        assert found.hint == "the recipient is written to FILE.pub; choose a shorter name"
    assert files_here() == ([name, f"{name}.pub"] if fits else [])


@both_kinds
def test_an_incomplete_file_is_removed(kind):
    found = keygen(*kind, "-o", "key", status=1, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    assert found.error == "--output: cannot write key after byte 0: File too large"
    assert found.hint == "the file system or ulimit does not allow larger files"
    assert (found.out, files_here()) == (b"", [])


@pytest.mark.parametrize("options", ["", "--x25519", "--x25519 -o unknown"])
def test_a_full_disk_is_an_error(options):
    """A recipient is printed only if its identity was written, and vice versa."""
    with open("/dev/full", "wb") as full:
        found = keygen(*options.split(), status=1, stdout=full)
    assert found.error == "cannot write standard output after byte 0: No space left on device"
    assert found.hint == "free some space, or write to another file system"
    assert "age1" not in found.err and files_here() == []
