"""gpuaes-parts seal -- COMMAND: the output of a command is a part only if the command succeeds."""

import os
import pathlib
import signal

import pytest

from parts_steps import content, join, plan, seal
from processes import wait_for
from programs import PATIENCE, some_bytes, start, stream

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


def test_a_command_has_the_standard_input_of_the_program_and_may_print_nothing(key):
    seal("dir", 0, "--", "tail", "-c", "+5", input=b"not this")
    assert opened(key) == b"this"
    plan(key, "empty", count=1)
    seal("empty", 0, "--", "true")
    join("empty")
    assert stream("-d", "-k", key, "empty").out == b""


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


def test_a_command_that_is_sealed_elsewhere(key):
    seal("dir", 0, *ELSEWHERE, "--", "cat", "plain")
    join("dir", "--receipts", "receipt")
    os.rename("part", PART)
    assert stream("-d", "-k", key, "dir").out == PLAIN


# --- The command is ended, or not run ------------------------------------------------------------------------------


def test_a_command_gets_the_signal_that_stops_the_program():
    script = "trap 'echo TERM >got; exit' TERM; touch started; while :; do sleep 0.02; done"
    child = start("gpuaes-parts", "seal", "dir", "--part", "0", "--", "sh", "-c", script)
    wait_for(lambda: os.path.exists("started"), "the start of the command")
    child.send_signal(signal.SIGTERM)
    assert child.wait(PATIENCE) == -signal.SIGTERM
    assert content("got") == b"TERM\n"
    expect_plan_only()


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
