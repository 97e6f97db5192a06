"""--rekey -i FILE without -o replaces the file and keeps its mode, owner and symbolic links; a hard link keeps the old
slots. If something goes wrong, the file is as it was."""

import os
import pathlib
import resource
import stat

import pytest

from programs import content, expect_same, files_here, secret_file, some_bytes, stream

PLAIN = some_bytes(300001)
AFTER = 119  # offset of the bytes that stay: salt, commitment and segments
NEW = ["--new-key", "../new"]


@pytest.fixture
def sealed(key):
    """What the file `sealed` contains."""
    secret_file("../new", bytes(32))
    stream("-q", "-k", key, "-e", "-o", "sealed", input=PLAIN)
    return pathlib.Path("sealed").read_bytes()


def opens(key, name):
    expect_same(PLAIN, stream("-d", "-k", key, "-i", name).out, name)


@pytest.mark.parametrize("mode", [0o600, 0o640, pytest.param(0o444, marks=pytest.mark.root)])
def test_mode_and_links_are_kept(key, sealed, mode):
    os.mkdir("links")
    os.symlink("../sealed", "links/relative")
    os.symlink(os.path.abspath("links/relative"), "links/twice")
    os.link("sealed", "other-name")
    os.chmod("sealed", mode)
    got = stream("-q", "--rekey", "-k", key, *NEW, "-i", "links/twice")
    assert (got.out, got.err) == (b"", "")
    assert stat.S_IMODE(os.stat("sealed").st_mode) == mode
    assert os.path.islink("links/twice") and os.path.islink("links/relative")
    expect_same(sealed[AFTER:], content("sealed")[AFTER:], "bytes after the header")
    opens("../new", "sealed")
    opens(key, "other-name")
    got = stream("-d", "-k", key, "-i", "sealed", status=3)
    assert got.error == "sealed: none of the given keys opens the input"


def test_other_outputs_and_inputs(key, sealed):
    """With -o onto an existing file, from standard input with an offset, and several runs in a pipeline."""
    rekey = ["--rekey", "-k", key, *NEW]
    pathlib.Path("out").write_bytes(b"old")
    os.chmod("out", 0o604)
    stream(*rekey, "-i", "sealed", "-o", "out")
    assert stat.S_IMODE(os.stat("out").st_mode) == 0o604
    opens("../new", "out")
    pathlib.Path("with-offset").write_bytes(b"something else" + sealed)
    with open("with-offset", "rb", buffering=0) as file:
        file.seek(14)
        pathlib.Path("rekeyed").write_bytes(stream(*rekey, stdin=file).out)
    opens("../new", "rekeyed")
    back = stream("--rekey", "-k", "../new", "--new-key", key, input=stream(*rekey, input=sealed).out).out
    expect_same(PLAIN, stream("-d", "-k", key, input=back).out)
    with open("/dev/full", "wb") as full:
        got = stream(*rekey, input=sealed, stdout=full, status=1)
    assert got.error == "cannot write standard output after byte 0: No space left on device"
    assert files_here() == ["out", "rekeyed", "sealed", "with-offset"]


# --- No space ------------------------------------------------------------------------------------------------------


def test_a_limit_on_the_size_of_files(key, sealed):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = (250 << 10, limits[1])
    got = stream("--rekey", "-k", key, *NEW, "-i", "sealed", status=1,
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert got.error == f"cannot write sealed after byte {limit[0]}: File too large"
    assert got.hint == "the file system or ulimit does not allow larger files"
    assert content("sealed") == sealed and files_here() == ["sealed"]
