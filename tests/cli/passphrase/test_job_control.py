"""Job control at the passphrase prompt in interactive shells: while the program is stopped, the terminal echoes as
usual, and after fg the prompt appears again without echo. No part of a passphrase reaches the screen or the shell."""

import contextlib
import os
import pathlib
import pty
import re
import shutil
import signal
import termios
import time

import pytest

from damage import open_independently
from processes import open_terminal, read_terminal, stat_fields, wait_for
from programs import FOLDER, expect_same, files_here, some_bytes

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402

PROMPT = b"ready> "
SECRET = b"Correct-Horse-7"
ASKS, REPEATS = b"Enter passphrase: ", b"Confirm passphrase: "
STOPPED = re.compile(rb"Stopped|Suspended")
PLAIN = some_bytes(20000)
EMPTY = b"the passphrase from the terminal is empty"
TOO_LONG = b"the passphrase from the terminal is longer than 1024 bytes"
DECRYPT = "$PROGRAM -q -d -p -o out <sealed"
ENCRYPT = "$PROGRAM -q -p -i sealed -o out"


class Shell:
    """An interactive shell in a new terminal. `output` is what followed the last input."""

    def __init__(self, *command):
        environment = {**os.environ, "PS1": PROMPT.decode(), "TERM": "dumb", "HISTFILE": "/dev/null",
                       "PROGRAM": str(FOLDER / "gpuaes-stream")}
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, environment)
        self.edits_lines = command[0] == "bash" and "--noediting" not in command
        self.output = b""
        self.expect_shell()

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)

    def type(self, text):
        self.output = b""
        os.write(self.terminal, text)

    def wait(self, condition, what):
        """Reads output, which must not contain any part of a passphrase, until the condition holds."""
        before = self.output
        self.output += read_terminal(self.terminal, lambda seen: condition(before + seen))
        assert condition(self.output), f"expected {what}, got {self.output}, echo {self.echoes()}"
        assert not re.search(b"Corr|Horse|xx", self.output), self.output

    def wait_for_state(self, job, states):
        self.wait(lambda _: stat_fields(f"/proc/{job}/stat")[0] in states, f"process state {states}")

    def echoes(self):
        return bool(termios.tcgetattr(self.terminal)[3] & termios.ECHO)

    def expect_question(self, question=ASKS):
        self.wait(lambda output: output.endswith(question) and not self.echoes(), question)

    def expect_shell(self):
        """Waits for the prompt of the shell, and for its terminal settings."""
        self.wait(lambda output: output.endswith(PROMPT) and (self.edits_lines or self.echoes()), PROMPT)

    def run(self, command):
        self.type(command.encode() + b"\n")
        self.expect_shell()

    def begin(self, command, question=ASKS):
        self.type(command.encode() + b"\n")
        self.expect_question(question)

    def begin_in_background(self):
        self.run(f"{DECRYPT} &")
        self.expect_stop_in_background()

    def expect_stop_in_background(self):
        """The shell must know it, or its fg would not continue the job."""
        self.wait_for_state(self.job(), "T")
        wait_for(lambda: STOPPED.search(self.output) or self.run("jobs"), "the shell reports the stop")

    def stop(self, typed=b"\x1a"):
        self.type(typed)
        self.expect_shell()
        assert STOPPED.search(self.output), self.output

    def expect_end(self, typed, status, message=b""):
        self.type(typed)
        self.expect_shell()
        assert message in self.output
        self.run("echo status=$?")
        assert f"status={status}\r\n".encode() in self.output

    def expect_opened(self):
        self.expect_end(SECRET + b"\n", 0)
        expect_same(PLAIN, pathlib.Path("out").read_bytes())

    def expect_killed(self):
        """Kills the stopped job, and continues it, because not every shell does so."""
        job = self.job()
        self.run("kill %1; kill -CONT %1")
        self.wait_for_state(job, "ZX")
        self.run("wait")
        assert files_here() == ["sealed"]

    def job(self):
        """The process that the shell started last."""
        return int(pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()[-1])


@pytest.fixture(params=["bash --norc --noprofile -i", "bash --norc --noprofile --noediting -i", "dash -i"])
def shell(request, work):
    command = request.param.split()
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    for end in open_terminal():
        os.close(end)
    pathlib.Path("sealed").write_bytes(sf.seal(PLAIN, passphrase=SECRET, log_n=10))
    with contextlib.closing(Shell(*command)) as shell:
        yield shell


def test_stopped_and_resumed(shell):
    shell.begin(DECRYPT)
    for typed in b"", b"Corr", b"Horse-7":
        shell.stop(typed + b"\x1a")
        shell.begin("fg")
    shell.expect_opened()


def test_stopped_by_another_process(shell):
    shell.begin(DECRYPT)
    for number in signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU:
        shell.type(b"Corr")
        time.sleep(0.05)  # until the terminal has received it
        os.kill(shell.job(), number)
        shell.expect_shell()
        shell.run("echo all")
        shell.begin("fg")
    shell.expect_opened()


def test_stopped_by_sigstop(shell):
    """The program cannot catch it to restore the terminal, but after fg there is no echo again."""
    shell.begin(DECRYPT)
    shell.type(b"")
    job = shell.job()
    os.kill(job, signal.SIGSTOP)
    shell.wait(lambda output: output.endswith(PROMPT), PROMPT)
    shell.type(b"fg\n")
    shell.wait_for_state(job, "S")
    shell.wait(lambda _: not shell.echoes(), "no echo")
    time.sleep(0.2)
    shell.expect_opened()


def test_stopped_at_the_second_question(shell):
    shell.begin(ENCRYPT)
    shell.type(SECRET + b"\n")
    shell.expect_question(REPEATS)
    shell.stop()
    shell.begin("fg", REPEATS)
    shell.expect_end(SECRET + b"\n", 0)
    sealed = pathlib.Path("sealed").read_bytes()
    assert open_independently(pathlib.Path("out").read_bytes(), passphrase=SECRET) == (0, sealed)


def test_ended_after_it_was_stopped(shell):
    shell.begin(DECRYPT)
    shell.stop()
    shell.begin("fg")
    shell.expect_end(b"Corr\x03", 130)
    shell.begin(DECRYPT)
    shell.stop()
    shell.expect_killed()
    shell.begin_in_background()
    shell.expect_killed()


def test_in_the_background(shell):
    shell.begin_in_background()
    shell.begin("fg")
    shell.stop()
    shell.run("bg")
    shell.expect_stop_in_background()
    shell.begin("fg")
    shell.expect_opened()


@pytest.mark.parametrize("size", [1025, 2048, 2049, 4094, 4095, 4096, 5000, 20000])
def test_an_answer_that_is_too_long(shell, size):
    def type_answer():
        shell.begin(DECRYPT)
        for at in range(0, size, 1000):
            shell.type(b"x" * min(1000, size - at))
            time.sleep(0.005)

    type_answer()
    shell.expect_end(b"\x03", 130)
    type_answer()
    for complaint in TOO_LONG, EMPTY:
        shell.begin("")
        assert complaint in shell.output
    shell.expect_end(b"\n", 2, EMPTY)
