"""gpuaes-parts seal -- COMMAND: the output of a command is a part only if the command succeeds."""

import os
import pathlib

import pytest

from parts_steps import join, plan, seal
from programs import content, some_bytes, stream

PLAIN = some_bytes(300_000)
PART = "dir/part.0000000"
ELSEWHERE = ["-o", "part", "--receipt", "receipt"]


@pytest.fixture(autouse=True)
def planned(key):
    """A plan without an input."""
    pathlib.Path("plain").write_bytes(PLAIN)
    plan(key, "dir", count=1)


def expect_plan_only():
    assert sorted(os.listdir("dir")) == ["head", "job"]


def opened(key):
    join("dir")
    return stream("-d", "-q", "-k", key, "dir").out


@pytest.mark.parametrize("options", [[], ["--verify"]])
def test_the_output_of_a_command_is_the_part(key, options):
    assert not seal("dir", 0, *options, "--", "cat", "plain").error
    assert opened(key) == PLAIN


@pytest.mark.parametrize("command, error", [
    (["false"], "the command 'false' failed with exit status 1"),
    (["sh", "-c", "cat plain; exec >&-; sleep 0.1; exit 255"], "the command 'sh' failed with exit status 255"),
    (["sh", "-c", "cat plain; kill -9 $$"], "the command 'sh' was killed by signal 9 (Killed)"),
    (["nosuchcommand"], "cannot run the command 'nosuchcommand': No such file or directory")])
@pytest.mark.parametrize("options", [[], ["--verify"], ELSEWHERE])
def test_a_command_that_fails_leaves_nothing(key, command, error, options):
    pathlib.Path("part").write_bytes(b"old")
    path = {**os.environ, "PATH": "/usr/bin:/bin"}  # without folders that a user cannot read
    found = seal("dir", 0, *options, "--", *command, status=1, env=path)
    assert (found.error, found.hint) == (f"part 0: {error}", "")
    assert content("part") == b"old" and not os.path.exists("receipt")
    expect_plan_only()


# --- The command is ended, or not run ------------------------------------------------------------------------------


def test_a_command_is_not_run_for_a_part_that_is_complete(key):
    seal("dir", 0, "--", "cat", "plain")
    assert seal("dir", 0, "--", "touch", "ran").notes == [f"{PART} is already complete"]
    assert seal("dir", 0, "--verify", "--", "touch", "ran").notes == [f"{PART} is already complete"]
    assert opened(key) == PLAIN
    assert seal("dir", 0, "--", "touch", "ran").notes == ["dir is already joined"]
    assert not os.path.exists("ran")


def test_a_command_gets_no_descriptor_of_the_job_file(key):
    with open("dir/job", "rb") as job, open("plain", "rb") as plain:
        script = f"cat; cat <&{plain.fileno()}; [ ! -e /proc/self/fd/{job.fileno()} ]"
        seal("dir", 0, "--", "bash", "-c", script, stdin=job, pass_fds=[job.fileno(), plain.fileno()])
    assert opened(key) == PLAIN
