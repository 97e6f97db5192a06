"""A part is published only if its input is as it was when the plan was made, before and after it was read."""

import os
import shutil
import signal
import subprocess

import pytest

from parts_steps import join, plan, seal, slow_seal, write_input
from programs import FOLDER, PATIENCE, append, overwrite, some_bytes, stream

SIZE = 100_000
NEW_PLAN = "make a new plan, for a snapshot or a file that is not being written"
COPY_TIME = ("if it is a copy, set its time to that of the original with touch -r, and name it with -i; otherwise, make a "
             "new plan")
NAME_COPY = ("if it is a copy, or only its mode, owner or links have changed, name it with -i; otherwise, make a new "
             "plan")
HINTS = {"size": NEW_PLAN, "type": NEW_PLAN, "modification time": COPY_TIME, "change time": NAME_COPY}


def grow():
    append("input", b"x")


def modify():
    overwrite("input", 0, b"x")


def modify_and_reset_the_time():
    modify()
    write_time(1_000_000_000)


def write_time(seconds):
    os.utime("input", (seconds, seconds))


def replace():
    write_input("other", some_bytes(SIZE))
    os.rename("other", "input")


def replace_by_a_device():
    os.unlink("input")
    os.symlink("/dev/zero", "input")


# What is done to the input, and what then differs.
CHANGES = {"grows": (grow, "size"), "shrinks": (lambda: os.truncate("input", SIZE - 1), "size"),
           "empty": (lambda: os.truncate("input", 0), "size"), "overwritten": (modify, "modification time"),
           "touched": (lambda: write_time(2_000_000_000), "modification time"),
           "3 seconds": (lambda: write_time(1_000_000_003), "modification time"),
           "replaced": (replace, "change time"),
           "overwritten, old time": (modify_and_reset_the_time, "change time"),
           "a device": (replace_by_a_device, "type"), "a new link": (lambda: os.link("input", "link"), "change time")}


@pytest.fixture
def planned(key):
    write_input("input", some_bytes(SIZE))
    plan(key, "dir", input="input", count=3)


def refused(what, *options, name=None, number=1):
    found = seal("dir", number, *options, status=1)
    name = name or f"{os.getcwd()}/input"
    assert (found.error, found.hint) == (
        f"part {number}: {name} has changed since the plan was made: its {what} differs", HINTS[what])
    assert f"part.{number:07}" not in os.listdir("dir")


@pytest.mark.parametrize("change, what", CHANGES.values(), ids=CHANGES)
def test_an_input_that_changed_since_the_plan_is_refused(planned, change, what):
    change()
    refused(what)


def test_an_input_that_is_named_may_have_another_status_change_time(planned):
    """It is a copy, on another host or under another name."""
    shutil.copy2("input", "copy")
    seal("dir", 1, "-i", "copy")
    os.chmod("input", 0o600)
    found = seal("dir", 0, status=1)
    assert found.hint == NAME_COPY
    seal("dir", 0, "-i", "input")
    grow()
    refused("size", "-i", "input", name="input", number=2)


@pytest.mark.parametrize("name", ["input", "copy"])
def test_a_copy_with_another_time_can_be_sealed_as_the_hint_says(planned, name):
    os.rename("input", "original")
    shutil.copyfile("original", name)
    refused("modification time", *([] if name == "input" else ["-i", name]), name=None if name == "input" else name)
    subprocess.run(["touch", "-r", "original", name], check=True)
    for i in range(3):
        seal("dir", i, "-i", name)
    join("dir")


@pytest.mark.parametrize("options", [[], ["-i", "input"]])
@pytest.mark.parametrize("planned, now, seconds", [("0", "0.000000001", "0.000000001"), ("1.9", "0", "1.900000000")])
def test_rounded_times_are_reported(key, planned, now, seconds, options):
    """Those of copies on sshfs and FAT, or made by scp -p, are."""
    write_input("input", some_bytes(SIZE))
    times = [10**18 + int(float(time) * 10**9) for time in (planned, now)]
    os.utime("input", ns=(times[0], times[0]))
    plan(key, "dir", input="input", count=3)
    os.utime("input", ns=(times[1], times[1]))
    found = seal("dir", 1, *options, status=1)
    name = "input" if options else f"{os.getcwd()}/input"
    assert found.error == (f"part 1: the modification time of {name} differs from the one in the plan by only {seconds} "
                           "seconds")
    hint = ("if it is a copy with rounded times, set the time of the input" if options else
            "if its file system rounds times, set its time")  # fmt: skip
    assert found.hint == f"{hint} to a whole minute with touch -t, and make a new plan"
    assert sorted(os.listdir("dir")) == ["head", "job"]


# --- While it is being read ----------------------------------------------------------------------------------------

LARGE = 64 << 20  # bytes, which take a while with Kuznyechik and one lane


def seal_while(change, *options):
    """Seals, and calls `change` when some of the input has been read. Returns the exit status and the error."""
    with slow_seal("dir", 0, "-l", "cpu:1", *options) as process:
        process.send_signal(signal.SIGSTOP)
        change()
        process.send_signal(signal.SIGCONT)
        error = process.communicate(timeout=PATIENCE)[1].decode()
        return process.returncode, error


@pytest.fixture
def large(key):
    """An input that takes a while to seal."""
    write_input("input", some_bytes(LARGE))
    plan(key, "dir", "-c", "kuznyechik", input="input", count=1)


@pytest.mark.parametrize("change", [grow, modify, modify_and_reset_the_time, lambda: os.truncate("input", 1_000_000)],
                         ids=["grows", "overwritten", "overwritten, old time", "shrinks"])
def test_an_input_that_changes_while_it_is_read_is_not_published(large, change):
    status, error = seal_while(change)
    assert status == 1 and error.startswith("gpuaes-parts: error: part 0: "), error
    assert "has changed since the plan was made" in error or "shrank while it was being read" in error
    assert sorted(os.listdir("dir")) == ["head", "job"]


def test_an_input_without_a_plan_causes_a_warning_if_it_is_modified_while_it_is_read(key):
    write_input("input", some_bytes(LARGE))
    plan(key, "dir", "-c", "kuznyechik", count=1)
    expected = (f"gpuaes-parts: warning: input grew from {LARGE} to {LARGE + 1} bytes while it was being read; the output "
                f"contains it up to byte {LARGE + 1}, and may combine old and new data\n")
    assert seal_while(grow, "-i", "input") == (0, expected)
    join("dir")
    assert stream("-d", "-k", key, "dir").out == some_bytes(LARGE) + b"x"


def test_an_input_that_is_replaced_while_it_is_read_is_the_old_one(large):
    """What was opened has not changed, and the other file is for later parts to refuse."""
    assert seal_while(replace, "-i", "input") == (0, "")
    join("dir")


def test_an_input_that_changes_before_its_receipt_is_written_has_none(large):
    """A part that is written elsewhere, as to object storage, is useless without its receipt."""
    command = [FOLDER / "gpuaes-parts", "seal", "dir", "--part", "0", "-o", "-", "--receipt", "receipt"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(100_000)
        grow()
        process.stdout.read()
        assert process.wait(PATIENCE) == 1
        assert b"has changed since the plan was made" in process.stderr.read()
    assert not os.path.exists("receipt")
