"""gpuaes-parts seal: the first complete attempt at a part stays, and one that fails leaves nothing."""

import os
import shutil
import signal
import subprocess

import pytest

from parts_steps import attempts, flip, join, plan, plan_and_seal, seal, slow_seal, write_input
from programs import FOLDER, PATIENCE, content, parts, some_bytes, stream
from special_files import mounted_by

PLAIN = some_bytes(50_000)
PART = "dir/part.0000001"


@pytest.fixture
def planned(key):
    """A plan for three parts, with part 1."""
    write_input("plain", PLAIN)
    plan(key, "dir", input="plain", count=3)
    seal("dir", 1)


def test_a_complete_part_stays(planned):
    first, modified = content(PART), os.stat(PART).st_mtime_ns
    found = seal("dir", 1, "--stats", "stats")
    assert found.notes == [f"{PART} is already complete"]
    assert (content(PART), os.stat(PART).st_mtime_ns) == (first, modified)
    assert not os.path.exists("stats")
    assert seal("dir", 1, "-q").err == ""


def test_without_a_number_all_missing_parts_are_sealed(planned, key):
    first = content(PART)
    assert parts("seal", "dir").err == ""
    assert content(PART) == first and parts("status", "--missing", "dir").out == b""
    assert parts("seal", "dir").notes == ["all parts of dir are already complete"]
    parts("seal", "dir", "--verify")
    join("dir")
    assert parts("seal", "dir").notes == ["dir is already joined"]
    assert stream("-d", "-k", key, "dir").out == PLAIN


def test_without_a_number_the_first_failure_ends_the_run(planned):
    os.truncate("plain", 100)
    found = parts("seal", "dir", status=1)
    assert found.error.startswith("part 0: ") and "plain has changed since the plan" in found.error
    assert sorted(os.listdir("dir")) == ["head", "job", "part.0000001"]


@pytest.mark.parametrize("spoil, error", [
    (lambda: flip(PART, 41), f"{PART} was not sealed with this plan, or its header is damaged"),
    (lambda: (seal("dir", 0), os.replace("dir/part.0000000", PART)), f"{PART} contains part 0/3"),
])
def test_what_is_not_the_complete_part_is_an_error_and_stays(planned, spoil, error):
    spoil()
    before = content(PART)
    assert seal("dir", 1, status=4).error == f"part 1: {error}"
    assert content(PART) == before


def test_after_the_join_a_part_that_is_there_is_complete(key):
    plan_and_seal(key, b"text", 1, "joined", file="text")
    join("joined")
    assert seal("joined", 0).notes == ["joined is already joined"]
    assert seal("joined", 1, status=2).error == "part 1: joined has only 1 part"
    for number, *options in (0, "--verify"), (0, "-o", "out", "--receipt", "receipt"):
        found = seal("joined", number, *options, status=1)
        assert (found.error, found.hint) == (
            f"part {number}: joined is already joined", "gpuaes-stream --test verifies it, with a key")


def test_after_the_join_a_part_that_is_elsewhere_is_not_sealed_again(key):
    """If receipts were joined, the job file is still there."""
    plan_and_seal(key, b"text", 2, "joined", file="text")
    shutil.copy("joined/job", "job")
    join("joined")
    shutil.copy("job", "joined/job")
    os.rename("joined/part.0000001", "elsewhere")
    assert seal("joined", 0).notes == ["joined is already joined"]
    assert seal("joined", 1, status=1).error == "part 1: joined is already joined"
    assert not os.path.exists("joined/part.0000001")


def test_after_the_join_a_part_that_is_missing_is_an_error(key):
    plan_and_seal(key, b"text", 3, "joined", file="text")
    join("joined")
    os.unlink("joined/part.0000001")
    for found in parts("seal", "joined", status=4), join("joined", status=4), seal("joined", 1, status=4):
        assert (found.error.removeprefix("part 1: "), found.hint) == (
            "joined/part.0000001 is missing", "restore it from a copy; a part that is sealed again does not fit the index")
    assert seal("joined", 0).notes == ["joined is already joined"]
    os.unlink("joined/head")
    assert join("joined", status=4).error == "joined/head is missing"


@pytest.mark.parametrize("option", ["--stats", "--trace", "--receipt"])
def test_a_report_never_replaces_a_file_of_the_directory(planned, option):
    others = ["-o", "elsewhere"] if option == "--receipt" else []
    for name in "dir/job", "dir/head", "dir/new":
        found = seal("dir", 0, *others, option, name, status=2)
        assert (found.error, found.hint) == (f"part 0: {option} is in dir", "write to another directory")


def test_a_report_may_be_named_like_the_part(planned):
    """It is in another directory."""
    assert seal("dir", 0, "--stats", "part.0000000").err == ""


# --- Verification --------------------------------------------------------------------------------------------------


def test_a_part_can_be_verified(planned):
    assert seal("dir", 0, "--verify").err == ""
    assert seal("dir", 1, "--verify").notes == [f"{PART} is already complete"]
    assert seal("dir", 1, "--verify", "-v", "-l", "cpu:1").status == 0


@pytest.mark.parametrize("at", [73, 5000, 73 + 16383])
def test_verification_finds_damage_anywhere(planned, at):
    flip(PART, at)
    assert seal("dir", 1).notes == [f"{PART} is already complete"]
    found = seal("dir", 1, "--verify", status=4)
    assert found.error.startswith("part 1: the input is corrupt at byte 73, in part 1")


# --- Several attempts ----------------------------------------------------------------------------------------------


def test_of_many_attempts_at_once_exactly_one_counts(planned, key):
    command = [FOLDER / "gpuaes-parts", "seal", "dir", "--part", "0"]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(8)]
    notes = [process.communicate(timeout=PATIENCE)[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0] * 8
    assert sorted(notes) == [""] + ["gpuaes-parts: dir/part.0000000 is already complete\n"] * 7
    seal("dir", 2)
    join("dir")
    assert stream("-d", "-k", key, "dir").out == PLAIN


@pytest.mark.parametrize("joined", [False, True])
def test_a_slower_attempt_does_not_replace_the_part(key, joined):
    """Even if its input was another one, so that its length is another one, and if it ends after the join, as one on a
    node that a scheduler has given up."""
    plan(key, "dir", count=1)
    with slow_seal("dir", 0, written=some_bytes(20_000)) as slow:
        seal("dir", 0, input=b"text")
        if joined:
            join("dir")
        first = content("dir/part.0000000")
        assert slow.communicate(b"more", timeout=PATIENCE)[1] == b"gpuaes-parts: dir/part.0000000 is already complete\n"
        assert slow.returncode == 0
    assert content("dir/part.0000000") == first and not attempts("dir")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_an_attempt_that_is_killed_leaves_no_part(key, number):
    plan(key, "dir", count=2)
    seal("dir", 1, input=b"complete")
    with slow_seal("dir", 0, written=some_bytes(20_000)) as process:
        process.send_signal(number)
        assert process.wait(PATIENCE) == -number  # its input does not end, because the part could then be complete
    assert len(attempts("dir")) == (number == signal.SIGKILL)
    assert os.listdir("dir").count("part.0000000") == 0
    seal("dir", 0, input=b"again, ")
    join("dir")
    assert sorted(os.listdir("dir")) == ["head", "index", "part.0000000", "part.0000001"]
    assert stream("-d", "-k", key, "dir").out == b"again, complete"


@pytest.fixture
def small(work):
    """A folder for 256 KiB."""
    with mounted_by("mount -t tmpfs -o size=256k tmpfs", "small"):
        yield


@pytest.mark.root
def test_a_full_disk_leaves_no_part(key, small):
    write_input("plain", some_bytes(300_000))
    plan(key, "small/dir", input="plain", count=4)
    seal("small/dir", 0)
    with open("small/filler", "ab", buffering=0) as file, pytest.raises(OSError):
        while True:
            file.write(bytes(4096))
    assert seal("small/dir", 1, status=1).error.endswith("No space left on device")
    assert sorted(os.listdir("small/dir")) == ["head", "job", "part.0000000"]
    assert plan(key, "small/new", input="plain", status=1).error.endswith("No space left on device")
    assert not os.path.exists("small/new")

    receipts = [f"receipt{i}" for i in (1, 2, 3)]
    for i in (1, 2, 3):
        seal("small/dir", i, "-o", f"part.{i:07}", "--receipt", f"receipt{i}")
    assert join("small/dir", "--receipts", *receipts, status=1).error.endswith("No space left on device")
    assert sorted(os.listdir("small/dir")) == ["head", "job", "part.0000000"]
    os.unlink("small/filler")
    join("small/dir", "--receipts", *receipts)
    shutil.copytree("small/dir", "dir")
    for i in (1, 2, 3):
        shutil.move(f"part.{i:07}", "dir")
    assert stream("-d", "-k", key, "dir").out == some_bytes(300_000)
