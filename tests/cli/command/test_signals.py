"""When the program ends, so does the command after --: it gets the signal or SIGTERM, and then SIGKILL if necessary."""

import os
import pathlib
import signal
import subprocess

import pytest

from processes import expect_death_by, expect_exit, stat_fields, thread_states, wait_for
from programs import files_here, start_raw

IDLE = "while :; do sleep 0.02; done"


def start_command(key, setup, script, *options, **popen):
    """Starts the program with a shell command, and waits until that has executed `setup`."""
    script = f"{setup}; echo $$ >pid.part; mv pid.part pid; {script}"
    child = start_raw(key, *options, "--", "sh", "-c", script, **popen)
    wait_for(lambda: os.path.exists("pid"), "the start of the command")
    return child


def command_id():
    return int(pathlib.Path("pid").read_text())


def has_ended():
    return stat_fields(f"/proc/{command_id()}/stat")[0] in "XZ"


@pytest.fixture(autouse=True)
def command_and_output_file_are_gone(work):
    yield
    if not has_ended():
        os.kill(command_id(), signal.SIGKILL)
        pytest.fail("expected the command to have ended")
    assert "new" not in files_here()


@pytest.mark.parametrize("options", [[], ["-o", "new"]])
@pytest.mark.parametrize("name", ["TERM", "INT"])
def test_a_command_gets_the_signal(key, name, options):
    child = start_command(key, f"trap 'echo {name} >>got; exit' {name}", IDLE, *options)
    expect_death_by(child, signal.Signals[f"SIG{name}"])
    assert pathlib.Path("got").read_text() == f"{name}\n"


def test_a_stopped_command(key):
    child = start_command(key, ":", f"kill -STOP $$; {IDLE}")
    wait_for(lambda: thread_states(command_id()) == ["T"], "the command to stop")
    expect_death_by(child, signal.SIGTERM)


def test_a_command_that_writes(key):
    expect_death_by(start_command(key, ":", "exec yes", "-o", "new"), signal.SIGINT)


def test_a_command_that_ignores_the_signal_is_killed(key):
    child = start_command(key, "trap '' TERM; exec >&-", IDLE, "-o", "new")
    child.send_signal(signal.SIGTERM)
    expect_exit(child, -signal.SIGTERM)
    wait_for(has_ended, "the end of the command")


def test_the_reader_goes_away(key):
    reader, writer = os.pipe()
    child = start_command(key, ":", "exec yes", stdout=writer)
    os.close(writer)
    os.read(reader, 1)
    os.close(reader)
    expect_exit(child, -signal.SIGPIPE)


def test_the_disk_is_full(key):
    with open("/dev/full", "wb") as full:
        child = start_command(key, "trap exit TERM", f"yes; {IDLE}", stdout=full, stderr=subprocess.PIPE)
    expect_exit(child, 1)
    assert b"error: cannot write standard output after byte 0: No space left on device\n" in child.stderr.read()
