"""-o, --rekey, --stats, --into and gpuaes-parts on FUSE file systems that lack links, modes, nameless files or rename
without replacement. Nothing else is left there, and what cannot work fails at the beginning."""

import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from file_systems import FUSE, expect_files, expect_kept, mounted
from parts_steps import join, plan, seal, write_input
from processes import feed, finish
from programs import content, expect_same, openssl_ctr, raw, secret_file, some_bytes, sparse, start_raw, stream

pytestmark = pytest.mark.root

PLAIN = some_bytes((3 << 20) + 4321)
OTHER = some_bytes(200_000)[::-1]
WITH_LINKS = "bindfs", "sshfs"


def only_on(*kinds):
    """Of the file systems at `disk`."""
    return pytest.mark.parametrize("disk", kinds, indirect=True)


@pytest.fixture(params=FUSE, ids=[kind.replace(" ", "-") for kind in FUSE])
def disk(request, work):
    """The kind of file system that is mounted at `disk`. The directory `outside` is next to it."""
    os.mkdir("outside")
    write_input("outside/plain", PLAIN)
    with mounted(request.param, "disk"):
        yield request.param


@pytest.fixture
def sealed(key, disk):
    stream("-q", "-k", key, "-i", "outside/plain", "-o", "outside/sealed")
    return "outside/sealed"


def mode_of_kept(disk):
    return 0o755 if disk == "exFAT" else 0o600


# --- -o --------------------------------------------------------------------------------------------------------------


def test_a_new_file_and_then_one_backup_a_day(key, disk):
    """The second and third replace the first."""
    for data in PLAIN, OTHER, PLAIN:
        assert raw(key, "-o", "disk/out", input=data).err == ""
        expect_same(openssl_ctr(data), content("disk/out"))
        expect_files("disk", ["out"])


def test_a_file_with_a_stricter_mode(key, disk):
    pathlib.Path("disk/out").write_bytes(b"old")
    os.chmod("disk/out", 0o600)
    before = os.stat("disk/out").st_mode
    assert raw(key, "-i", "outside/plain", "-o", "disk/out").err == ""
    expect_same(openssl_ctr(PLAIN), content("disk/out"))
    assert os.stat("disk/out").st_mode == before
    expect_files("disk", ["out"])


@only_on("bindfs", "sshfs", "sshfs without links")
def test_a_file_of_another_owner(key, disk):
    pathlib.Path("disk/out").write_bytes(b"old")
    os.chown("disk/out", 65533, 65532)
    assert raw(key, "-i", "outside/plain", "-o", "disk/out").err == ""
    assert (os.stat("disk/out").st_uid, os.stat("disk/out").st_gid) == (65533, 65532)
    expect_files("disk", ["out"])


@pytest.mark.parametrize("name", ["x" * 255, "\u6f22" * 85], ids=["ASCII", "UTF-8"])
def test_a_name_can_be_as_long_as_possible(key, disk, name):
    for data in PLAIN, OTHER:
        raw(key, "-o", f"disk/{name}", input=data)
        expect_same(openssl_ctr(data), content(f"disk/{name}"))
        expect_files("disk", [name])


def test_a_signal_leaves_nothing_and_sigkill_one_file(key, disk):
    for number in signal.SIGTERM, signal.SIGKILL:
        child = start_raw(key, "-o", "disk/out", stdin=subprocess.PIPE)
        feed(child, OTHER)
        [name] = os.listdir("disk")
        assert re.fullmatch(r"\.out\.gpuaes-[A-Za-z0-9]{6}", name)
        child.send_signal(number)
        assert finish(child) == -number
        expect_files("disk", [] if number == signal.SIGTERM else [name])


@only_on("exFAT")
def test_a_full_disk(key, disk):
    sparse("outside/large", 300 << 20)
    found = raw(key, "-i", "outside/large", "-o", "disk/out", status=1)
    assert "No space left on device" in found.error and "gpuaes-kept" not in found.hint
    expect_files("disk", [])


# --- --rekey ---------------------------------------------------------------------------------------------------------


def test_rekey_in_place_and_to_another_file(key, disk, sealed):
    new_key = secret_file("outside/new-key", bytes(32))
    shutil.copyfile(sealed, "disk/file")
    for old, new in (key, new_key), (new_key, key), (key, new_key):
        assert not stream("--rekey", "-q", "-k", old, "--new-key", new, "disk/file").warnings
        expect_files("disk", ["file"])
    expect_same(PLAIN, stream("-d", "-k", new_key, "disk/file").out)
    for _ in range(2):
        stream("--rekey", "-q", "-k", new_key, "--new-key", key, "disk/file", "-o", "disk/copy")
        expect_same(PLAIN, stream("-d", "-k", key, "disk/copy").out)
        expect_files("disk", ["copy", "file"])


# --- --into ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out", "x" * 255, "\u6f22" * 85], ids=["short", "long", "UTF-8"])
def test_into_works_or_fails_at_the_beginning(key, disk, sealed, name):
    """Never after all shares have been decrypted."""
    def into(number, status):
        return stream("-d", "-k", key, "--share", f"{number}/3", "--into", f"disk/{name}", sealed, status=status)

    first = into(0, (0, 1))
    if first.status == 1:
        assert disk not in WITH_LINKS and "disk" in first.error
        expect_files("disk", [])
        return
    [folder] = os.listdir("disk")
    assert len(os.fsencode(folder)) <= 255
    into(2, 0)
    into(0, 0)
    assert os.listdir("disk") == [folder]
    into(1, 0)
    expect_files("disk", [name])
    expect_same(PLAIN, content(f"disk/{name}"))
    assert into(1, 0).err == ""
    expect_files("disk", [name])


# --- gpuaes-parts ----------------------------------------------------------------------------------------------------


def test_parts_work_or_are_refused_by_the_plan(key, disk):
    """By the plan, because the others need what it needs."""
    with open("outside/count", "wb") as count:
        planned = plan(key, "disk/dir", input="outside/plain", count=3, status=(0, 1), stdout=count)
    if planned.status == 1:
        assert disk not in WITH_LINKS
        assert not planned.error.startswith("cannot open"), planned.err
        expect_files("disk", [])
        return
    for number in 0, 1, 2, 1:
        seal("disk/dir", number, "-q")
    expect_files("disk/dir", ["head", "job", *(f"part.{number:07}" for number in range(3))])
    for _ in range(2):
        join("disk/dir", "-o", "disk/out")
        expect_same(PLAIN, stream("-d", "-k", key, "disk/out").out)
        expect_same(PLAIN, stream("-d", "-k", key, "disk/dir").out)
    expect_files("disk/dir", ["head", "index", *(f"part.{number:07}" for number in range(3))])
    expect_files("disk", ["dir", "out"])


def test_a_part_is_kept_if_its_receipt_cannot_be_written(key, disk):
    plan(key, "outside/dir", input="outside/plain", count=1)
    pathlib.Path("disk/part").write_bytes(b"old")
    found = seal("outside/dir", 0, "-q", "-o", "disk/part", "--receipt", "/dev/full", status=1)
    assert content("disk/part") == b"old"
    expect_kept(found, "disk/part", lambda data: None, mode_of_kept(disk))
    expect_files("disk", ["part"])
