"""Runs programs on a terminal where they ask for passphrases; processes.py has the functions for any terminal."""

import fcntl
import os
import pickle
import signal
import subprocess
import termios
import traceback

import pytest

import programs
from processes import flags, open_terminal, read_terminal
from programs import PATIENCE, Result, check, start

END = b"\0"  # written to a terminal after the output of a program


def in_session(terminal, action):
    """Calls `action` in a child process that leads a new session with this controlling terminal. Returns its result."""
    reader, writer = os.pipe()
    leader = os.fork()
    if leader == 0:
        programs.started.clear()
        try:
            os.setsid()
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
            programs.ignore_here(signal.SIGINT, signal.SIGHUP)
            outcome = (None, action())
        except BaseException:
            outcome = (traceback.format_exc(), None)
        for child in programs.started:
            child.kill()
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(outcome, pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        failure, result = pickle.load(pipe)
    os.waitpid(leader, 0)
    return result if failure is None else pytest.fail(failure, pytrace=False)


def await_question(child, main):
    """Returns the output on the terminal up to the next question, whose answer is not echoed."""
    def asks(seen):
        return seen.endswith(b": ") and not termios.tcgetattr(main)[3] & termios.ECHO

    seen = read_terminal(main, lambda seen: asks(seen) or child.poll() is not None)
    assert asks(seen), f"expected a question and no echo, got {seen}"
    return seen


def converse(main, slave, options, answers, input=b"", program="gpuaes-stream", **popen):
    """Does what at_terminal() says, in the session of the terminal."""
    settings = termios.tcgetattr(slave)
    pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
    child = start(program, *options, **{**pipes, **popen})
    if child.stdin:
        child.stdin.write(input)
        child.stdin.close()
        child.stdin = None
    else:
        os.write(main, input)
    seen = b""
    for answer in answers:
        seen += await_question(child, main)
        if isinstance(answer, signal.Signals):
            child.send_signal(answer)
        else:
            os.write(main, answer if isinstance(answer, bytes) else answer.encode() + b"\n")
    out, err = child.communicate(timeout=PATIENCE)
    os.write(slave, END)
    seen += read_terminal(main, lambda seen: seen.endswith(END)).removesuffix(END)
    assert termios.tcgetattr(slave) == settings, "expected the settings of the terminal to be restored"
    err = err or b""  # the terminal
    for answer in filter(None, answers):
        assert not isinstance(answer, str) or answer.encode() not in seen + err, f"it shows an answer: {seen + err}"
    return Result(child.returncode, out, err.decode()), seen


def without_control(*options, on=("stderr",), answers=(), status=0, **how):
    """Runs a program like at_terminal(), but without a controlling terminal: the new terminal is only the standard
    streams in `on`."""
    main, slave = open_terminal()
    before = flags(slave)
    streams = {name: slave for name in on}
    result, seen = converse(main, slave, options, answers, start_new_session=True, **streams, **how)
    assert flags(slave) == before
    os.close(main)
    os.close(slave)
    return check(result, options, status), [line.strip() for line in seen.decode().splitlines() if line.strip()]


def at_terminal(*options, answers=(), status=0, **how):
    """Runs a program on a new terminal, with pipes as its standard streams unless `stdin` is given. It must ask
    once for each answer, without echo, and restore the settings of the terminal. An answer is a line, bytes to type or
    a signal to send. Returns the result and the lines on the terminal."""
    main, slave = open_terminal()
    result, seen = in_session(slave, lambda: converse(main, slave, options, answers, **how))
    os.close(main)
    os.close(slave)
    return check(result, options, status), [line.strip() for line in seen.decode().splitlines() if line.strip()]
