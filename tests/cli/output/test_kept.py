"""A complete output whose last step fails is kept next to its name as .NAME.gpuaes-kept, unless its data may be lost."""

import os
import pathlib
import shutil
import stat
import subprocess

import pytest

from file_systems import KEPT, append_only, expect_kept, is_plain, kept_files, restricted, says_lost
from parts_steps import join, plan, plan_and_seal, seal, write_input
from processes import feed, unfinished_files, wait_until_idle
from programs import (PATIENCE, Result, check, content, expect_same, files_here, openssl_ctr, parts, raw, secret_file,
                      some_bytes, sparse)
from programs import start, start_raw, stream
from special_files import hide_proc

PLAIN = some_bytes(300_000)
LARGE = (64 << 20) + 1  # bytes, for which names are tried before anything is written
REFUSALS = ["EPERM", "EACCES", "EXDEV", "EOPNOTSUPP"]
RENAMES = "renameat={0}", "renameat2={0}"
NAMES = *RENAMES, "linkat={0}"
UNSUPPORTED = ["EINVAL", "EOPNOTSUPP", "ENOSYS"]


@pytest.fixture(autouse=True)
def plain(work):
    pathlib.Path("../plain").write_bytes(PLAIN)


@pytest.fixture(params=[None, b"old"])
def before(request):
    """What the file `out` contains before the run, or None if it does not exist."""
    if request.param is not None:
        pathlib.Path("out").write_bytes(request.param)
    return request.param


def expect_before(before):
    assert files_here() == ([] if before is None else ["out"])
    assert before is None or content("out") == before


@pytest.fixture
def decrypt(key):
    """Decrypts PLAIN, or other data, to a file."""

    def run(output, *options, data=PLAIN, **how):
        sealed = stream("-q", "-k", key, input=data).out
        return stream("-q", "-d", "-k", key, "-o", output, *options, input=sealed, **how)

    return run


def blocked(key, output, data=PLAIN, options=("-o",), **how):
    """Encrypts to a new file, at whose name a directory appears before the end. The run must fail."""
    child = start_raw(key, *options, output, stdin=subprocess.PIPE, stderr=subprocess.PIPE, **how)
    feed(child, data)
    os.mkdir(output)
    err = child.communicate(timeout=PATIENCE)[1].decode()
    os.rmdir(output)
    return check(Result(child.returncode, b"", err), (), 1)


# --- What is kept, and where -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["out", "folder/out", "../here/out"])
def test_the_complete_output_is_kept_and_the_hint_names_it(key, output):
    os.mkdir("folder")
    found = blocked(key, output)
    assert found.error.startswith(f"cannot rename the output to {output}: ")
    expect_kept(found, output, is_plain(openssl_ctr(PLAIN)))
    assert files_here() == ["folder"] and os.listdir("folder") == []


def test_a_link_at_its_name_is_replaced_and_not_followed(key):
    pathlib.Path("mine").write_bytes(b"mine")
    os.symlink("mine", f".out.{KEPT}")
    found = blocked(key, "out")
    assert not os.path.islink(f".out.{KEPT}")
    expect_kept(found, "out", is_plain(openssl_ctr(PLAIN)))
    assert content("mine") == b"mine"


def test_it_keeps_its_temporary_name_if_the_other_is_taken(key):
    """Also next to a temporary file of another output, whose name is as long."""
    os.mkdir(f".out.{KEPT}")
    pathlib.Path(f".out.{KEPT}/file").touch()
    pathlib.Path(".new.gpuaes-x7Yz01").touch()
    found = blocked(key, "out")
    [name] = set(files_here()) - {f".out.{KEPT}", ".new.gpuaes-x7Yz01"}
    assert found.hint == f"the complete output is in {name}" and os.stat(name).st_mode & 0o777 == 0o600
    is_plain(openssl_ctr(PLAIN))(content(name))
    assert os.listdir(f".out.{KEPT}") == ["file"]


def test_it_does_not_keep_its_temporary_name_as_well(key):
    """Each repeat would leave one more copy."""
    os.mkdir(f".out.{KEPT}")
    pathlib.Path(f".out.{KEPT}/file").touch()
    blocked(key, "out")
    before = files_here()
    assert says_lost(blocked(key, "out"))
    assert files_here() == before and len(before) == 2


def test_the_hint_names_it_where_it_is(key):
    """The directory is renamed during the run."""
    os.mkdir("folder")
    child = start_raw(key, "-o", "folder/out", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until_idle(child)
    os.rename("folder", "moved")
    os.mkdir("moved/out")
    found = Result(1, b"", child.communicate(PLAIN, PATIENCE)[1].decode())
    assert child.returncode == 1
    check(found, (), 1)
    os.rmdir("moved/out")
    assert found.hint == f"the complete output is in {os.getcwd()}/moved/.out.{KEPT}"
    is_plain(openssl_ctr(PLAIN))(content(f"moved/.out.{KEPT}"))


@pytest.mark.parametrize("replaced", [False, True])
def test_an_output_that_was_moved_away_is_not_said_to_be_kept(key, replaced):
    """Nor is what another run has kept removed."""
    pathlib.Path(f".out.{KEPT}").write_bytes(b"kept")
    child = start_raw(key, "-o", "out", stdin=subprocess.PIPE, stderr=subprocess.PIPE, wrap=hide_proc())
    wait_until_idle(child)
    [file] = set(unfinished_files()) - set(kept_files())
    os.rename(file, "moved")
    if replaced:
        os.mkdir("out")
        pathlib.Path(file).write_bytes(b"mine")
    found = check(Result(1, b"", child.communicate(PLAIN, PATIENCE)[1].decode()), (), 1)
    assert child.returncode == 1 and says_lost(found)
    is_plain(openssl_ctr(PLAIN))(content("moved"))
    assert content(f".out.{KEPT}") == b"kept"
    assert not replaced or content(file) == b"mine"


# By the bytes of each character.
LONG_NAMES = {"1": "x" * 255, "1 and 2": "x" + "\u00fc" * 127, "3": "\u6f22" * 85, "4": "\U0001f512" * 63}


@pytest.mark.parametrize("name", LONG_NAMES.values(), ids=LONG_NAMES)
def test_long_names_are_cut_between_characters(key, name):
    """Different names lead to different files."""
    kept = set()
    for each in name, name[:-1] + "y":
        found = blocked(key, each)
        [file] = kept_files()
        assert len(os.fsencode(file)) <= 255 and file in found.hint and file.startswith(f".{name[:20]}")
        os.fsencode(file).decode()
        expect_same(openssl_ctr(PLAIN), content(file))
        kept.add(file)
        os.unlink(file)
    assert len(kept) == 2 and files_here() == []


@pytest.mark.parametrize("name", LONG_NAMES.values(), ids=LONG_NAMES)
def test_long_temporary_names_are_cut_between_characters(key, name):
    """They also contain a hash of the whole name."""
    temporary = []
    for each in name, name[:-1] + "y":
        child = start("gpuaes-stream", "-q", "-k", key, "-o", each, stdin=subprocess.PIPE, wrap=hide_proc())
        wait_until_idle(child)
        [file] = unfinished_files()
        assert len(os.fsencode(file)) <= 255
        os.fsencode(file).decode()
        temporary.append(file[:-6])
        child.communicate(PLAIN, PATIENCE)
        assert child.returncode == 0 and files_here() == [each]
        os.unlink(each)
    assert temporary[0] != temporary[1]


# --- Steps that fail -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", REFUSALS)
def test_if_links_are_refused_a_large_output_has_a_name_from_the_beginning(decrypt, key, before, error):
    """So has one of unknown size."""
    wrap = restricted(f"linkat={error}")
    assert decrypt("out", wrap=wrap).err == ""
    expect_same(PLAIN, content("out"))
    assert files_here() == ["out"]
    sparse("../large", LARGE)
    raw(key, "-i", "../large", "-o", "out", wrap=wrap)
    assert os.stat("out").st_size == LARGE and files_here() == ["out"]


@pytest.mark.parametrize("error", REFUSALS)
def test_a_small_output_that_cannot_be_linked_is_copied(key, error, before):
    raw(key, "-i", "../plain", "-o", "out", wrap=restricted(f"linkat={error}"))
    assert files_here() == ["out"]
    expect_same(openssl_ctr(PLAIN), content("out"))


@pytest.mark.parametrize("calls", [RENAMES, NAMES], ids=["renames", "renames and links"])
@pytest.mark.parametrize("error", [*REFUSALS, "ENOSYS"])
def test_if_renames_are_refused_a_large_output_fails_before_it_reads_input(key, before, calls, error):
    """Unless it only needs a link."""
    wrap = restricted(*(call.format(error) for call in calls))
    if calls == RENAMES and before is None:
        sparse("../large", LARGE)
        raw(key, "-i", "../large", "-o", "out", wrap=wrap)
        assert os.stat("out").st_size == LARGE and files_here() == ["out"]
        return
    os.mkfifo("../never")
    with open("../never", "r+b", buffering=0):
        found = stream("-q", "-k", key, "-i", "../never", "-o", "out", wrap=wrap, status=1)
    assert found.error.startswith("--output: cannot rename a temporary file next to out: ")
    assert found.hint == "redirect the output with > to write to the file in place"
    expect_before(before)


@pytest.mark.parametrize("calls", [RENAMES, NAMES], ids=["renames", "renames and links"])
@pytest.mark.parametrize("wrapped", [(), hide_proc], ids=["nameless", "named"])
@pytest.mark.parametrize("error", [*REFUSALS, "ENOSYS"])
def test_if_renames_are_refused_one_copy_of_a_small_output_is_kept(key, calls, wrapped, error):
    pathlib.Path("out").write_bytes(b"old")
    wrap = (*(wrapped and wrapped()), *restricted(*(call.format(error) for call in calls)))
    for data in PLAIN, PLAIN[:-1]:
        write_input("../small", data)
        found = raw(key, "-i", "../small", "-o", "out", wrap=wrap, status=1)
        assert content("out") == b"old" and len(files_here()) == 2
    expect_kept(found, "out", is_plain(openssl_ctr(PLAIN[:-1])))


@pytest.mark.root
def test_in_an_append_only_directory_no_link_is_tried(key, decrypt):
    """It could not be removed."""
    with append_only("grows"):
        decrypt("grows/out")
        assert os.listdir("grows") == ["out"]
        expect_same(PLAIN, content("grows/out"))
        sparse("../large", LARGE)
        raw(key, "-i", "../large", "-o", "grows/large")
        assert sorted(os.listdir("grows")) == ["large", "out"]


def test_where_no_file_can_get_a_name_it_fails_before_it_reads_input(key):
    os.mkfifo("../never")
    with open("../never", "r+b", buffering=0):
        found = stream("-q", "-k", key, "-i", "../never", "-o", "out", wrap=restricted("make_reg"), status=1)
    assert found.error.startswith("--output: cannot ") and found.error.endswith(": Permission denied")
    assert files_here() == []


def test_where_no_file_can_get_a_name_a_small_output_is_lost(key):
    found = raw(key, "-i", "../plain", "-o", "out", wrap=restricted("make_reg"), status=1)
    assert says_lost(found) or found.error.startswith("--output: cannot create ")
    assert files_here() == []


@pytest.mark.parametrize("error", UNSUPPORTED)
def test_a_file_system_that_cannot_sync_is_no_error(decrypt, error, before):
    found = decrypt("out", "--stats", "stats", wrap=restricted(f"fsync={error}"))
    expect_same(PLAIN, content("out"))
    assert found.err == "" and files_here() == ["out", "stats"]


def test_keys_and_parts_on_a_file_system_that_cannot_sync(key):
    wrap = restricted("fsync=EINVAL")
    write_input("in", PLAIN)
    parts("plan", "-k", key, "-i", "in", "-n", "2", "-o", "dir", wrap=wrap)
    for number in "01":
        parts("seal", "dir", "--part", number, wrap=wrap)
    parts("join", "dir", "-o", "joined", wrap=wrap)
    for number in "01":
        stream("-d", "-k", key, "--share", f"{number}/2", "--into", "out", "joined", wrap=wrap)
    expect_same(PLAIN, content("out"))
    assert files_here() == ["dir", "in", "joined", "out"]


@pytest.mark.parametrize("error", ["EIO", "ENOSPC", "EDQUOT", "ESTALE"])
def test_what_may_be_lost_is_not_kept(decrypt, error, before):
    assert KEPT not in decrypt("out", wrap=restricted(f"fsync={error}"), status=1).hint
    expect_before(before)


@pytest.mark.parametrize("error", ["EPERM", "EOPNOTSUPP", "ENOSYS"])
def test_a_mode_owner_and_group_that_are_right_are_not_set(decrypt, error):
    wrap = restricted(f"fchmod={error}", f"fchown={error}")
    for mode in None, 0o644:
        if mode:
            os.chmod("out", mode)
        assert decrypt("out", wrap=wrap).err == ""
        assert stat.S_IMODE(os.stat("out").st_mode) == 0o644 and files_here() == ["out"]


def test_a_mode_that_is_too_open_is_not_published(decrypt):
    pathlib.Path("out").write_bytes(b"old")
    os.chmod("out", 0o600)
    decrypt("out", wrap=restricted("fchmod=EPERM"))
    assert stat.S_IMODE(os.stat("out").st_mode) == 0o600 and kept_files() == []
    expect_same(PLAIN, content("out"))


# --- Statistics, receipts, keys and parts ----------------------------------------------------------------------------


def test_statistics_that_cannot_be_written(key, before):
    found = raw(key, "-o", "out", "--stats", "/dev/full", input=PLAIN, status=1)
    assert found.error.startswith("--stats: cannot write /dev/full")
    expect_kept(found, "out", is_plain(openssl_ctr(PLAIN)))
    expect_before(before)


def test_a_receipt_that_cannot_be_written(key):
    write_input("../in", PLAIN)
    plan(key, "dir", input="../in", count=1)
    pathlib.Path("part").write_bytes(b"old")
    found = seal("dir", 0, "-q", "-o", "part", "--receipt", "/dev/full", status=1)
    assert content("part") == b"old"

    def is_part(data):
        shutil.copytree("dir", "../copy")
        pathlib.Path("../copy/part.0000000").write_bytes(data)
        join("../copy", "-o", "../joined")
        expect_same(PLAIN, stream("-d", "-k", key, "../joined").out)

    expect_kept(found, "part", is_part)
    assert files_here() == ["dir", "part"] and sorted(os.listdir("dir")) == ["head", "job"]


def test_rekey_in_place(key):
    new_key = secret_file("../new", bytes(32))
    stream("-q", "-k", key, "-o", "file", input=PLAIN)
    before = content("file")
    found = stream("--rekey", "-q", "-k", key, "--new-key", new_key, "file", wrap=restricted("renameat=EPERM"),
                   status=1)
    assert content("file") == before
    expect_kept(found, "file", lambda data: expect_same(PLAIN, stream("-d", "-k", new_key, input=data).out))
    assert files_here() == ["file"]


def test_a_part_in_a_directory(key):
    write_input("../in", PLAIN)
    plan(key, "dir", input="../in", count=2)
    for calls in (call.format("EPERM") for call in NAMES), ("linkat=EPERM", "renameat2=EPERM"):
        found = seal("dir", 0, "-q", wrap=restricted(*calls), status=1)
        assert f"dir/.part.0000000.{KEPT}" in found.hint
        assert sorted(os.listdir("dir")) == [f".part.0000000.{KEPT}", "head", "job"]
    seal("dir", 0, "-q")
    seal("dir", 1, "-q")
    join("dir", "-o", "out")
    assert f".part.0000000.{KEPT}" not in os.listdir("dir")
    expect_same(PLAIN, stream("-d", "-k", key, "out").out)


def test_a_join_whose_output_cannot_be_published_can_be_repeated(key, before):
    plan_and_seal(key, PLAIN, 2, "dir", file="../in")
    found = join("dir", "-o", "out", wrap=restricted("linkat=EPERM", "renameat=EPERM"), status=1)
    assert before is None or content("out") == before
    if not says_lost(found):
        expect_kept(found, "out", lambda data: expect_same(PLAIN, stream("-d", "-k", key, input=data).out))
    join("dir", "-o", "out")
    expect_same(PLAIN, stream("-d", "-k", key, "out").out)
    assert files_here() == ["dir", "out"]
