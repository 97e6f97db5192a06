"""A regular file that is modified while it is being encrypted causes a warning, and is encrypted to its end."""

import os
import pathlib
from subprocess import PIPE

import pytest

from processes import redirected, wait_until_stalled
from programs import Result, append, check, expect_same, overwrite, some_bytes, start, stream

SIZE = 4 << 20  # bytes, more than a pipe and the chunks in memory
DATA = some_bytes(SIZE)
FILE = pathlib.Path("file")


def grow():
    append(FILE, b"more")


def modify():
    overwrite(FILE, -1, b"?")


def replace():
    pathlib.Path("other").write_bytes(b"other")
    os.rename("other", FILE)


def grew(name="file"):
    return (f"{name} grew from {SIZE} to {SIZE + 4} bytes while it was being read; the output contains it up to byte "
            f"{SIZE + 4}, and may combine old and new data")


def modified(name="file"):
    return f"{name} was modified while it was being read; the output may combine old and new data"


CHANGES = {"grows": (grow, grew), "overwritten": (modify, modified)}
changes = pytest.mark.parametrize("change, warning", CHANGES.values(), ids=CHANGES)


@pytest.fixture(autouse=True)
def file(work):
    """It was written some time ago, so that any modification changes its time."""
    FILE.write_bytes(DATA)
    os.utime(FILE, (10**9, 10**9))


def run_while(change, *options, status=0, source="-i file", stdin="</dev/null"):
    """Starts to read `file`, calls `change`, and reads the rest. `source` names the input, and `stdin` redirects standard
    input as the shell does."""
    child = start("gpuaes-stream", "-l", "cpu:1", "-b", "64K", *options, *source.split(), wrap=redirected(stdin),
                  stdout=PIPE, stderr=PIPE)
    wait_until_stalled(child.stdout.fileno())
    change()
    out, err = child.communicate()
    return check(Result(child.returncode, out, err.decode()), options, status)


@changes
def test_the_warning_names_the_file(key, change, warning):
    found = run_while(change, "-k", key)
    assert found.warnings == [warning()]
    expect_same(FILE.read_bytes(), stream("-d", "-k", key, input=found.out).out)


@changes
@pytest.mark.parametrize("source, stdin, name", [("", "<file", "standard input"), ("-i -", "<file", "standard input"),
                                                 ("", "<file; head -c 1000 >/dev/null", "standard input"),
                                                 ("-i /dev/fd/3", "3<file", "/dev/fd/3"), ("link", "<&-", "link")])
def test_however_the_file_is_named(key, change, warning, source, stdin, name):
    os.symlink("file", "link")
    assert run_while(change, "-k", key, source=source, stdin=stdin).warnings == [warning(name)]


@pytest.mark.parametrize("change", [lambda: os.chmod(FILE, 0o600), lambda: os.link(FILE, "link"), FILE.unlink, replace,
                                    lambda: os.rename(FILE, "file.1"), FILE.read_bytes],
                         ids=["mode", "link", "removed", "replaced", "rotated", "read"])
def test_other_changes_do_not_matter(key, change):
    found = run_while(change, "-k", key)
    assert found.err == ""
    expect_same(DATA, stream("-d", "-k", key, input=found.out).out)


@pytest.mark.parametrize("options", [["-d"], ["--salvage"], ["--range", "0:"]])
def test_decryption_does_not_warn(key, options):
    """It verifies what it reads."""
    stream("-k", key, "file", "-o", "sealed")
    os.replace("sealed", FILE)
    os.utime(FILE, (10**9, 10**9))
    assert run_while(lambda: os.utime(FILE), *options, "-k", key).err == ""


def test_files_of_the_kernel_do_not_warn(key):
    for name in "/proc/self/status", "/proc/self/maps", "/proc/uptime", "/sys/kernel/mm/transparent_hugepage/enabled":
        if os.path.exists(name):
            assert stream("-k", key, "-i", name).err == ""
