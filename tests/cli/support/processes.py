"""Watches processes, terminals and pipes, for tests of signals and progress; start() in programs.py starts a program."""

import fcntl
import glob
import os
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

import pytest

from programs import PATIENCE, SANITIZED, start

A_SECOND = 20 if SANITIZED else 5  # seconds, generous for anything that must end within one second


def open_terminal(columns=80):
    """Both ends of a pseudo-terminal of that width. Skips the test if the system has no pseudo-terminals."""
    try:
        master, slave = os.openpty()
        os.ttyname(slave)
    except OSError:
        pytest.skip("no pseudo-terminals on this system")
    set_columns(slave, columns)
    return master, slave


def set_columns(fd, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def start_on_terminal(program, *options, columns=80, **popen):
    """Starts a program in a new session with a new controlling terminal, which is also its standard error. Returns the
    process and the other end of the terminal."""
    master, slave = open_terminal(columns)
    become_session = ("setsid", "--ctty", "--wait") if shutil.which("setsid") else pytest.skip("setsid is not installed")
    child = start(program, *options, wrap=become_session, **{"stdin": slave, "stderr": slave, **popen})
    os.close(slave)
    return child, master


def read_terminal(master, until=lambda seen: False):
    """The output on a terminal, until `until` is satisfied or the last writer has closed it."""
    seen, deadline = b"", time.monotonic() + PATIENCE
    while not until(seen):
        assert time.monotonic() < deadline, f"expected more output, or its end, within {PATIENCE} s: {seen}"
        if not select.select([master], [], [], 0.05)[0]:
            continue
        try:
            part = os.read(master, 10000)
        except OSError:  # EIO: the last writer has closed it
            break
        if not part:  # the same, if it is a pipe
            break
        seen += part
    return seen


def read_for(seconds, master):
    """The output on a terminal within that time."""
    end = time.monotonic() + seconds
    return read_terminal(master, lambda _: time.monotonic() >= end)


def wait_for(condition, what, patience=PATIENCE, pause=0.01):
    """Waits until the condition is true, and returns its value. Checks it every `pause` seconds."""
    deadline = time.monotonic() + patience
    while not (value := condition()):
        assert time.monotonic() < deadline, f"expected within {patience} s: {what}"
        time.sleep(pause)
    return value


def wait_until_idle(*children):
    """Waits until programs are idle: all of their threads have slept for a while."""
    deadline = time.monotonic() + PATIENCE
    before, quiet = None, 0
    while quiet < 8:
        ended = [child.args for child in children if child.poll() is not None]
        assert not ended, f"expected it to wait, but it has ended: {ended}"
        assert time.monotonic() < deadline, f"expected all threads to sleep, got {before}"
        now = [(thread_states(child.pid), cpu_seconds(child.pid)) for child in children]
        quiet = quiet + 1 if now == before and all(set(states) == {"S"} for states, _ in now) else 0
        before = now
        time.sleep(0.04)


def feed(child, data):
    """Writes to the standard input of a program, which stays open, and waits until the program is idle."""
    child.stdin.write(data)
    child.stdin.flush()
    wait_until_idle(child)


def unfinished_files():
    return glob.glob(".*.gpuaes-*")


def finish(child, what="", patience=PATIENCE):
    """Waits for the end. Returns the return code, -N after death by signal N."""
    try:
        return child.wait(patience)
    except subprocess.TimeoutExpired:
        pytest.fail(f"{what}: expected it to end within {patience} s, but it still runs")


def expect_exit(child, want, what=""):
    assert finish(child, what) == want, what


def expect_death_by(child, number, what=""):
    """Sends the signal, which must end the child promptly, without a core dump. Returns the resources it used."""
    assert child.poll() is None, f"{what}: it has ended"
    what = f"{what}, {signal.Signals(number).name}"
    child.send_signal(number)
    wait_for(lambda: os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG), f"{what}: the end", A_SECOND)
    _, status, resources = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert (child.returncode, os.WCOREDUMP(status)) == (-number, False), what
    return resources


def redirected(redirections):
    """The command to put before a program, with `wrap`, for these redirections of the shell."""
    return ["sh", "-c", f'exec {redirections}; exec "$@"', "sh"]


def evict(name):
    """Removes a file from the page cache, as far as its file system allows."""
    with open(name, "rb") as f:
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_all(fd):
    parts = []
    while part := os.read(fd, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def flags(fd):
    return fcntl.fcntl(fd, fcntl.F_GETFL)


def set_nonblocking(fd):
    fcntl.fcntl(fd, fcntl.F_SETFL, flags(fd) | os.O_NONBLOCK)


def bytes_in_pipe(fd):
    """How many bytes wait for the reader. Either end of the pipe will do."""
    return struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0\0\0\0"))[0]


def wait_until_stalled(fd, what="output pipe"):
    """Waits until the writer to fd is blocked: the number of bytes to read no longer changes."""
    deadline = time.monotonic() + PATIENCE
    before, since = -1, time.monotonic()
    while time.monotonic() < deadline:
        now = bytes_in_pipe(fd)
        if now != before:
            before, since = now, time.monotonic()
        elif now > 0 and time.monotonic() - since > (1 if SANITIZED else 0.5):
            return
        time.sleep(0.05)
    pytest.fail(f"{what}: expected it to fill up, but it holds {before} bytes")


def stat_fields(path):
    try:
        with open(path) as f:
            return f.read().rpartition(")")[2].split()
    except OSError:  # it has ended
        return ["Z"] + ["0"] * 50


def thread_states(pid):
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [stat_fields(f"/proc/{pid}/task/{thread}/stat")[0] for thread in threads]


def cpu_seconds(pid):
    fields = stat_fields(f"/proc/{pid}/stat")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
