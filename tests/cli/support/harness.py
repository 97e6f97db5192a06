"""Functions for tests of the command line that use pipes, sockets and signals; see python() in lib.sh."""

import atexit
import fcntl
import glob
import os
import re
import select
import signal
import stat
import struct
import subprocess
import sys
import termios
import threading
import time

program = os.environ["PROGRAM"]
key = os.environ["KEY"]
iv = os.environ["IV"]
slow = bool(os.environ.get("GPUAES_SANITIZED"))
WITHOUT_PROC = ("unshare", "-m", "sh", "-c", os.environ["HIDE_PROC"], "sh")  # prefix for a command

PATIENCE = 30  # seconds, for anything that should end immediately
A_SECOND = 20 if slow else 5  # seconds, generous for anything that must end within one second

# Signals that end the program like SIGTERM.
STOP_SIGNALS = [
    getattr(signal, f"SIG{name}")
    for name in "INT TERM HUP QUIT XCPU ALRM USR2 VTALRM PROF PWR IO STKFLT".split()
]


def fail(message):
    print("FAIL: " + message, file=sys.stderr)
    sys.exit(1)


def start(*options, **popen):
    """Starts the program with key and iv, in raw format."""
    return spawn("-f", "raw", "--iv", iv, "-q", "-k", key, *options, **popen)


def spawn(*options, ignore=(), wrap=(), **popen):
    """Starts the program with default actions for all signals, except that those in `ignore` are ignored. `wrap` is a
    command that executes it."""

    def signals():
        for s in (*STOP_SIGNALS, signal.SIGPIPE, signal.SIGUSR1):
            signal.signal(s, signal.SIG_IGN if s in ignore else signal.SIG_DFL)

    child = subprocess.Popen(
        [*wrap, program, *options],
        preexec_fn=signals,
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **popen},
    )
    atexit.register(lambda: child.poll() is None and child.kill())
    return child


def open_terminal(columns=80):
    """Both ends of a pseudo-terminal of that width. Skips the test if the system has no pseudo-terminals."""
    try:
        master, slave = os.openpty()
        os.ttyname(slave)
    except OSError:
        print("skipped: no pseudo-terminals on this system")
        sys.exit(77)
    set_columns(slave, columns)
    return master, slave


def set_columns(fd, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def start_session_on(slave):
    """Continues as a child in a new session with this controlling terminal."""
    pid = os.fork()
    if pid:
        os.close(slave)
        status = os.waitpid(pid, 0)[1]
        os._exit(os.waitstatus_to_exitcode(status) & 255)
    os.setsid()
    try:
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    except OSError:
        print("skipped: cannot set the controlling terminal")
        sys.exit(77)


def read_terminal(master, until=lambda seen: False, patience=PATIENCE):
    """The output on a terminal, until `until` is satisfied, time runs out or the last writer has closed it."""
    seen, deadline = b"", time.monotonic() + patience
    while not until(seen) and time.monotonic() < deadline:
        if not select.select([master], [], [], 0.05)[0]:
            continue
        try:
            part = os.read(master, 10000)
        except OSError:  # EIO: the last writer has closed it
            break
        seen += part
    return seen


def wait_until_idle(child):
    """Waits until the program is idle: all of its threads have slept for a while."""
    deadline = time.monotonic() + PATIENCE
    before, quiet = None, 0
    while child.poll() is None and quiet < 8 and time.monotonic() < deadline:
        now = (thread_states(child.pid), cpu_seconds(child.pid))
        quiet = quiet + 1 if now == before and set(now[0]) == {"S"} else 0
        before = now
        time.sleep(0.04)


def unfinished_bytes(child):
    """The size of the unfinished -o file, which has no name yet or a temporary one. 0 if unknown."""
    size = 0
    try:
        for fd in os.listdir(f"/proc/{child.pid}/fd"):
            status = os.stat(f"/proc/{child.pid}/fd/{fd}")
            if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                size = max(size, status.st_size)
    except OSError:  # the program has ended, or runs as another user
        pass
    return max([size, *(os.path.getsize(name) for name in unfinished_files())])


def unfinished_files():
    return glob.glob(".*.gpuaes-*")


def finish(child, what, patience=PATIENCE):
    """Waits for the end. Returns the return code, -N after death by signal N."""
    try:
        return child.wait(patience)
    except subprocess.TimeoutExpired:
        fail(f"{what}: expected it to end within {patience} s, but it still runs")


def expect_exit(child, want, what):
    got = finish(child, what)
    if got != want:
        fail(f"{what}: expected return code {want}, got {got}")


def expect_death_by(child, number, what):
    """Sends the signal, which must end the child promptly."""
    if child.poll() is not None:
        fail(f"{what}: expected the program to wait, but it ended with {child.returncode}")
    child.send_signal(number)
    got = finish(child, f"{what}, {signal.Signals(number).name}", A_SECOND)
    if got != -number:
        fail(f"{what}: expected death by {signal.Signals(number).name} (return code {-number}), got {got}")


def expect_same(want, got, what):
    if want != got:
        at = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
        fail(f"{what}: expected {len(want)} bytes, got {len(got)}; the first difference is at byte {at}")


def expect_equal(want, got, what):
    if want != got:
        fail(f"{what}: expected {want!r}, got {got!r}")


def make_input(size):
    return (bytes(range(251)) * (size // 251 + 1))[:size]


def reference(data):
    """The data, encrypted with openssl."""
    bits = 4 * len(os.environ["KEY_HEX"])
    command = ["openssl", "enc", f"-aes-{bits}-ctr", "-K", os.environ["KEY_HEX"], "-iv", iv, "-nosalt"]
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


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


def wait_until_stalled(fd, what="output pipe"):
    """Waits until the writer to fd is blocked: the number of bytes to read no longer changes."""
    deadline = time.monotonic() + PATIENCE
    before, since = -1, time.monotonic()
    while time.monotonic() < deadline:
        now = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0\0\0\0"))[0]
        if now != before:
            before, since = now, time.monotonic()
        elif now > 0 and time.monotonic() - since > (1 if slow else 0.5):
            return
        time.sleep(0.05)
    fail(f"{what}: expected it to fill up, but it holds {before} bytes")


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
