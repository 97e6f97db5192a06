"""gpuaes-parts join checks that all parts belong together, and can be repeated after any failure."""

import os
import pathlib
import shutil
import subprocess
import time

import pytest

from parts_steps import flip, join, part, plan, plan_and_seal, seal, write_input
from programs import FOLDER, PATIENCE, append, content, overwrite, parts, some_bytes, stream

PLAIN = some_bytes(100_000)
MEMBERS = ["head", "index", *(f"part.{i:07}" for i in range(3))]


def members():
    """The contents of all regular files in the directory."""
    return {path.name: path.read_bytes() for path in pathlib.Path("dir").iterdir() if path.is_file()}


def refused(status, error, hint="", *options):
    """join is refused, also with other outputs, and changes nothing."""
    before = members()
    for output in [], ["-o", "out"], ["-o", "-"]:
        found = join("dir", *options, *output, status=status)
        assert (found.error, found.hint) == (error, hint)
        assert found.out == b"" and not os.path.exists("out")
    assert members() == before


# --- Parts that do not belong together -----------------------------------------------------------------------------


@pytest.mark.parametrize("lost, text", [([0], " 0"), ([2], " 2"), ([0, 2], "s 0,2"), ([0, 1, 2], "s 0-2")])
def test_missing_parts(sealed, lost, text):
    for number in lost:
        os.unlink(part(number))
    refused(1, f"dir does not contain part{text}", "gpuaes-parts status shows which parts are complete")


def test_parts_exchanged(sealed):
    os.rename(part(0), "0")
    os.rename(part(1), part(0))
    os.rename("0", part(1))
    refused(4, f"{part(0)} contains part 1")


def test_a_part_of_another_plan_for_the_same_input(sealed, key):
    plan_and_seal(key, PLAIN, 3, "other")
    shutil.copy("other/part.0000001", part(1))
    refused(4, f"{part(1)} was not sealed with this plan, or its header is damaged")


@pytest.fixture
def mixed(key):
    """Makes parts 0 to 2 of one file key, each from a plan of its own."""
    pytest.importorskip("cryptography")
    import parts_format as pf
    job = pf.new_job(keys=[bytes(range(32))])

    def make(planned, sizes, ofs=(3, 3, 3)):
        write_input("plain", planned)
        sealed = [pf.frame(job, pf.PART, i, ofs[i], pf.cut(some_bytes(size), 3)[i]) for i, size in enumerate(sizes)]
        pf.write_directory("dir", job, sealed, joined=False, count=3, input=pf.planned("plain"))

    return make


def test_parts_cut_from_inputs_of_different_sizes(mixed):
    """These have the right numbers, and without the plan nothing would show that bytes between them are lost."""
    mixed(PLAIN, [100_000, 200_000, 100_000])
    refused(4, f"{part(1)} has 65536 bytes of plaintext, not 32768", "it was sealed from another input")


@pytest.mark.parametrize("ofs, text", [((3, 0, 3), "1, not part 1/3"), ((3, 4, 3), "1/4, not part 1/3")])
def test_a_part_of_another_cut(mixed, ofs, text):
    mixed(PLAIN, [100_000] * 3, ofs)
    refused(4, f"{part(1)} contains part {text}")


OTHER_PLAN = "was not sealed with this plan, or its header is damaged"
TRUNCATED = "is truncated or has trailing bytes"


@pytest.mark.parametrize("spoil, error", [
    (lambda name: os.truncate(name, 73), TRUNCATED), (lambda name: append(name, b"x"), TRUNCATED),
    (lambda name: flip(name, -1), "is corrupt at its end"), (lambda name: flip(name, 72), OTHER_PLAN),
    (lambda name: os.truncate(name, 72), "is not a sealed part"),
    (lambda name: shutil.copy("dir/head", name), "is not a sealed part"),
])
def test_a_damaged_part(sealed, spoil, error):
    spoil(part(1))
    refused(4, f"{part(1)} {error}")


# --- The number of parts -------------------------------------------------------------------------------------------


def test_the_number_must_be_that_of_the_plan(sealed):
    for count in 2, 4:
        refused(2, f"the plan has 3 parts, but --count is {count}", "", "--count", str(count))
    join("dir", "--count", "3")


def test_the_number_is_required_if_the_plan_does_not_have_it(key):
    plan(key, "dir")
    for i in range(2):
        seal("dir", i, input=b"text")
    refused(2, "--count is required, because the plan does not record the number of parts")
    refused(1, "dir does not contain part 2", "gpuaes-parts status shows which parts are complete", "--count", "3")
    refused(4, "dir/part.0000001 is there, but the file has only 1 part", "", "--count", "1")
    join("dir", "--count", "2")
    assert stream("-d", "-k", key, "dir").out == b"texttext"


@pytest.mark.parametrize("spoil, error", [
    (lambda: flip("dir/head", 60), "the input is not the header of this file"),
    (lambda: append("dir/head", b"x"), "the input is not the header of this file"),
    (lambda: os.truncate("dir/head", 50), "the input is truncated after byte 50, in its header; nothing was written"),
])
def test_a_damaged_head_is_found_while_the_job_file_is_there(sealed, key, spoil, error):
    spoil()
    found = join("dir", status=4)
    assert found.error == f"dir/head: {error}"
    assert found.hint == "remove it, and join restores it"
    assert not os.path.exists("dir/index")
    os.unlink("dir/head")
    join("dir")
    assert stream("-d", "-k", key, "dir").out == PLAIN


@pytest.mark.parametrize("spoil", [
    lambda name: os.truncate(name, 0), lambda name: os.truncate(name, 5), lambda name: os.truncate(name, 100),
    lambda name: overwrite(name, -8, b"\xff" * 8)])
def test_a_damaged_index_is_not_joined(sealed, spoil):
    join("dir")
    spoil("dir/index")
    for command in (["join", "dir"], ["join", "dir", "-o", "out"], ["status", "dir"], ["status", "dir", "--missing"]):
        assert parts(*command, status=4).error == "dir/index is damaged"
    assert not os.path.exists("out")


# --- Output --------------------------------------------------------------------------------------------------------


def test_the_single_file(sealed, key):
    found = join("dir", "-v", "-o", "out")
    assert found.notes == ["joining 3 parts"]
    assert content("out") == b"".join(content(f"dir/{name}") for name in ["head", *MEMBERS[2:], "index"])
    assert stream("-d", "-k", key, "out").out == PLAIN
    assert join("dir", "-o", "-").out == content("out")


def test_an_output_in_the_directory_is_refused(sealed):
    os.symlink("dir", "link")
    for name in ("dir/out", "./dir/part.0000001", f"{os.getcwd()}/dir/job", "link/out"):
        found = join("dir", "-o", name, status=2)
        assert (found.error, found.hint) == ("--output is in dir", "write to another directory")
    os.chdir("dir")
    assert join("../dir", "-o", "out", status=2).error == "--output is in ../dir"
    assert len(join(".", "-o", "-").out) > len(PLAIN)


@pytest.mark.parametrize("name, spoil, error", [
    ("head", os.unlink, "is missing"), ("part.0000002", os.unlink, "is missing"),
    ("part.0000001", lambda name: os.truncate(name, os.stat(name).st_size - 1), TRUNCATED)])
def test_a_joined_directory_that_is_not_complete_has_no_single_file(sealed, name, spoil, error):
    join("dir")
    spoil(f"dir/{name}")
    assert join("dir", "-o", "out", status=4).error == f"dir/{name} {error}"
    assert not os.path.exists("out")


# --- Repeated and concurrent joins ---------------------------------------------------------------------------------


def last_change(name):
    status = os.stat(f"dir/{name}")
    return status.st_ino, status.st_ctime_ns


def test_join_again(sealed, key):
    join("dir")
    before = [last_change(name) for name in MEMBERS]
    assert join("dir").notes == ["dir is already joined"]
    assert [last_change(name) for name in MEMBERS] == before
    join("dir", "-o", "out")
    assert stream("-d", "-k", key, "out").out == PLAIN


def test_a_join_that_was_killed_before_it_removed_the_job_file(sealed, key):
    shutil.copy("dir/job", "job")
    join("dir")
    shutil.copy("job", "dir/job")
    index = content("dir/index")
    assert stream("-d", "-k", key, "dir").out == PLAIN
    assert join("dir").err == ""
    assert sorted(os.listdir("dir")) == MEMBERS and content("dir/index") == index


def test_an_index_that_lists_another_attempt(sealed):
    shutil.copy("dir/job", "job")
    os.rename(part(1), "first")
    seal("dir", 1)
    os.rename(part(1), "second")
    shutil.copy("first", part(1))
    join("dir")
    shutil.copy("job", "dir/job")
    shutil.copy("second", part(1))
    refused(4, "dir/index lists a different attempt at part 1 from the one in dir/part.0000001",
            "if the index is outdated, remove it and join again")
    shutil.copy("first", part(1))
    join("dir")


@pytest.mark.parametrize("spoil", [lambda: flip("dir/index", 80), lambda: os.truncate("dir/index", 0),
                                   lambda: append("dir/index", b"x")])
def test_an_index_that_is_damaged(sealed, spoil):
    shutil.copy("dir/job", "job")
    join("dir")
    shutil.copy("job", "dir/job")
    spoil()
    refused(4, "dir/index is damaged, or belongs to another file", "remove it, and join makes it again")
    os.unlink("dir/index")
    join("dir")
    os.truncate("dir/index", 0)
    refused(4, "dir/index is damaged",
            "read the parts without it: cat DIR/head DIR/part.* | gpuaes-stream --salvage")


def test_directories_named_like_attempts_stay(sealed):
    names = [".part.0000001.host.1.abcdef", ".part.0000001.gpuaes-kept"]
    for name in names:
        os.mkdir(f"dir/{name}")
    assert b"attempt" not in parts("status", "dir").out
    join("dir")
    assert sorted(os.listdir("dir")) == sorted([*MEMBERS, *names])


def test_leftovers_of_attempts_are_removed(sealed):
    for name in (".part.0000001.host.1.abcdef", ".part.0000009.host.1.abcdef", ".index.host.1.abcdef"):
        pathlib.Path("dir", name).write_bytes(b"text")
    for name in (".keep", ".part.note", ".index"):
        pathlib.Path("dir", name).write_bytes(b"text")
    join("dir")
    assert sorted(os.listdir("dir")) == sorted([*MEMBERS, ".keep", ".part.note", ".index"])
    pathlib.Path("dir/.part.0000001.host.1.abcdef").touch()  # of a join that was killed at its end
    join("dir")
    assert sorted(os.listdir("dir")) == sorted([*MEMBERS, ".keep", ".part.note", ".index"])


def start_join(*options):
    command = [FOLDER / "gpuaes-parts", "join", "dir", *options]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)


def test_many_joins_at_once(sealed, key):
    processes = [start_join("-o", f"out{i}") for i in range(6)]
    for process in processes:
        output, error = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, error
    assert sorted(os.listdir("dir")) == MEMBERS
    assert len({content(f"out{i}") for i in range(6)}) == 1
    assert stream("-d", "-k", key, "dir").out == PLAIN


def test_many_joins_at_once_restore_the_head(sealed):
    """Several find it missing, and one of them is the first to write it."""
    head = content("dir/head")
    for _ in range(5):
        shutil.copy("dir/job", "job")
        os.unlink("dir/head")
        for process in [start_join() for _ in range(6)]:
            _, error = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, error
        assert content("dir/head") == head
        os.unlink("dir/index")
        shutil.copy("job", "dir/job")


def test_a_join_that_is_killed_at_any_time_can_be_repeated(key):
    plain = some_bytes(100_000)
    write_input("plain", plain)
    for delay in range(0, 24, 3):
        plan_and_seal(key, plain, 3, "dir")
        process = start_join()
        time.sleep(delay / 1000)
        process.kill()
        process.communicate()
        join("dir")
        assert sorted(os.listdir("dir")) == MEMBERS
        assert stream("-d", "-k", key, "dir").out == plain
        shutil.rmtree("dir")
