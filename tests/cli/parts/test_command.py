"""gpuaes-parts seal -- COMMAND: the output of a command is a part only if the command succeeds."""

import os
import pathlib
import signal

import pytest

from parts_steps import content, join, plan, plan_and_seal, seal, slow_seal, write_input
from processes import wait_for
from programs import PATIENCE, some_bytes, start, stream

PLAIN = some_bytes(300_000)
PART = "dir/part.0000000"
HINT = "what follows -- is a command whose output is encrypted"
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


@pytest.mark.parametrize("options", [[], ["--verify"], ["--size", "300000", "-P"]])
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


def test_a_command_that_fails_once_and_is_repeated_gives_the_whole_data(key):
    script = "head -c 20000000 /dev/zero | if [ -e failed ]; then cat; else touch failed; head -c 3000000; false; fi"
    failed = seal("dir", 0, "--", "sh", "-c", script, status=1)
    assert failed.error == "part 0: the command 'sh' failed with exit status 1"
    expect_plan_only()
    seal("dir", 0, "--", "sh", "-c", script)
    assert opened(key) == bytes(20_000_000)


@pytest.mark.parametrize("command, error", [
    (["false"], "the command 'false' failed with exit status 1"),
    (["sh", "-c", "cat plain; exit 2"], "the command 'sh' failed with exit status 2"),
    (["sh", "-c", "cat plain; exec >&-; sleep 0.1; exit 255"], "the command 'sh' failed with exit status 255"),
    (["sh", "-c", "cat plain; kill -9 $$"], "the command 'sh' was killed by signal 9 (Killed)"),
    (["sh", "-c", "cat plain; kill -PIPE $$"], "the command 'sh' was killed by signal 13 (Broken pipe)"),
    (["nosuchcommand"], "cannot run the command 'nosuchcommand': No such file or directory"),
    (["/"], "cannot run the command '/': Permission denied")])
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


@pytest.mark.parametrize("ignored", ["PIPE", "PIPE TERM"])
def test_a_command_that_ignores_signals_ends_with_an_attempt_that_fails(ignored):
    limited = ["sh", "-c", 'ulimit -f 1000; exec "$@"', "sh"]
    script = f"trap '' {ignored}; echo $$ >pid; yes 2>/dev/null; while :; do sleep 0.02; done"
    found = seal("dir", 0, "--", "sh", "-c", script, status=1, wrap=limited)
    assert "File too large" in found.error
    expect_plan_only()
    wait_for(lambda: not os.path.exists(f"/proc/{content('pid').decode().strip()}/exe"), "the end of the command")


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


def test_another_attempt_may_be_faster(key):
    with slow_seal("dir", 0, "--", "cat", written=some_bytes(20_000)) as slow:
        seal("dir", 0, "--", "cat", "plain")
        assert slow.communicate(timeout=PATIENCE)[1] == f"gpuaes-parts: {PART} is already complete\n".encode()
        assert slow.returncode == 0
    assert opened(key) == PLAIN


@pytest.mark.parametrize("options, error, hint", [
    (["--"], "no command follows --", HINT),
    (["-i", "plain", "--", "touch", "ran"], "--input cannot be used with a command", HINT),
    (["-o", "-", "--receipt", "receipt", "--", "touch", "ran"],
     "part 0: a part of unknown size cannot be written to standard output", "name a file with -o"),
    (["--", "./plain"], "./plain is a file, not a command", "to encrypt a file, name it with -i instead")])
def test_command_lines_that_are_refused(options, error, hint):
    found = seal("dir", 0, *options, status=2)
    assert (found.error, found.hint) == (error, hint)
    assert not os.path.exists("ran")
    expect_plan_only()


def test_a_plan_with_an_input_is_refused(key):
    write_input("input", PLAIN)
    plan(key, "cut", input="input", count=2)
    found = seal("cut", 0, "--", "touch", "ran", status=2)
    assert found.error == ("part 0: the output of a command cannot be sealed, because the plan has an input, "
                           f"{os.getcwd()}/input")
    assert found.hint == "to seal the outputs of commands, make a plan without an input"
    assert not os.path.exists("ran")


# --- Descriptors ---------------------------------------------------------------------------------------------------


def test_a_command_has_only_the_standard_descriptors(key):
    seal("dir", 0, "--stats", "stats", "--trace", "trace", "--", "ls", "/proc/self/fd")
    assert opened(key).decode().split() == ["0", "1", "2", "3"]  # with the one of ls itself


def test_a_command_gets_no_descriptor_of_the_job_file(key):
    with open("dir/job", "rb") as job, open("plain", "rb") as plain:
        script = f"cat; cat <&{plain.fileno()}; [ ! -e /proc/self/fd/{job.fileno()} ]"
        seal("dir", 0, "--", "bash", "-c", script, stdin=job, pass_fds=[job.fileno(), plain.fileno()])
    assert opened(key) == PLAIN
