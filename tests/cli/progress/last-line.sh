#!/usr/bin/env bash
# -P prints a last line that shows the progress, even if the run fails or a signal ends it, and the error message is on
# a separate line. Other messages clear the progress line first.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3
make_input 3000000 plain
gsealed -i plain >sealed
head -c 2000000 sealed >short

python <<'PYTHON'
from harness import *
import re

LAST = rb"(?:gpuaes-stream: )?([ .\d]{4}[KM]iB|\s+\d+ B) 0:00:\d\d \[.{7}/s\](?: +\[=*>? *\])?(?: *\d+%)?  cpu:\d+ *"


def begin(*options, **popen):
    return spawn("-k", key, *options, **popen)


def text_of(terminal, child, master=None):
    """The final content of the terminal or the pipe, as lines."""
    if not terminal:
        return child.stderr.read().split(b"\n")[:-1]
    lines = read_terminal(master).split(b"\r\n")[:-1]
    shown = []
    for line in lines:
        columns = bytearray()
        for part in line.split(b"\r"):
            columns[: len(part)] = part
        shown.append(bytes(columns).rstrip())
    return shown


def expect_last(lines, how_far, what, error=None):
    if error:
        lines = [line for line in lines if not line.startswith(b"gpuaes-stream: hint: ")]
        if not re.match(rb"gpuaes-stream: error: " + error, lines[-1]):
            fail(f"{what}: expected an error as the last line, got {lines!r}")
        lines = lines[:-1]
    got = re.fullmatch(LAST, lines[-1])
    if not got or not re.fullmatch(how_far, got[1]):
        fail(f"{what}: expected {how_far!r} in the last line, got {lines!r}")


for terminal in (False, True):
    def ends():
        return open_terminal(80) if terminal else (None, subprocess.PIPE)

    def close(slave):
        if terminal:
            os.close(slave)

    what = "terminal" if terminal else "pipe"
    master, slave = ends()
    child = begin("-d", "-P", "-i", "short", stderr=slave)
    close(slave)
    expect_exit(child, 4, "truncated input")
    expect_last(text_of(terminal, child, master), rb"1\.\d\dMiB", f"truncated, {what}", rb"short: the input is corrupt or truncated")

    for number in (signal.SIGINT, signal.SIGTERM):
        master, slave = ends()
        child = begin("-P", "-b", "64K", stdin=subprocess.PIPE, stderr=slave)
        close(slave)
        child.stdin.write(make_input(1 << 20))
        child.stdin.flush()
        wait_until_idle(child)
        expect_death_by(child, number, "waiting for input")
        expect_last(text_of(terminal, child, master), rb"1\.00MiB|9\d\dKiB|0.9\dMiB", f"{number}, {what}")

    r, w = os.pipe()
    master, slave = ends()
    child = begin("-P", "-i", "plain", stdout=w, stderr=slave)
    close(slave)
    os.close(w)
    os.read(r, 1000)
    os.close(r)
    expect_exit(child, -signal.SIGPIPE, "the reader of the output closes it")
    expect_last(text_of(terminal, child, master), rb".*", f"SIGPIPE, {what}")

# The pipe on stderr is full and not read: neither the end of a run nor a signal waits for it.
r, w = os.pipe()
set_nonblocking(w)
try:
    while True:
        os.write(w, b"x" * 65536)
except BlockingIOError:
    pass
fcntl.fcntl(w, fcntl.F_SETFL, flags(w) & ~os.O_NONBLOCK)
expect_exit(begin("-P", "-i", "plain", stderr=w), 0, "stderr is full")
child = begin("-P", stdin=subprocess.PIPE, stderr=w)
wait_until_idle(child)
for _ in range(3):
    child.send_signal(signal.SIGUSR1)
    wait_until_idle(child)
expect_death_by(child, signal.SIGINT, "stderr is full")

# With -v there are messages while the progress line is shown, and every line is complete.
master, slave = open_terminal(80)
child = begin("-P", "-v", "-b", "64K", stdin=subprocess.PIPE, stderr=slave)
child.stdin.write(make_input(1 << 20))
child.stdin.flush()
seen = read_terminal(master, lambda seen: seen.count(b"\r") >= 6)
child.send_signal(signal.SIGUSR1)
seen += read_terminal(master, lambda seen: seen.count(b"\n") > 0)
child.stdin.close()
os.close(slave)
expect_exit(child, 0, "-v")
seen += read_terminal(master)
if not re.search(rb"\r +\rgpuaes-stream: +(1\.00M|\d+K)iB [^\r\n]*\r\n\r", seen):
    fail(f"expected the line to be cleared and drawn again, got {seen!r}")
if not re.search(rb" cpu:\d+ *\r\ngpuaes-stream: 1048576 bytes in, \d+ bytes out, [^\r\n]*\r\n$", seen):
    fail(f"expected the last line and then the summary, got {seen!r}")

# In the background the program draws nothing and is not stopped.
master, slave = open_terminal(80)
start_session_on(slave)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
settings = termios.tcgetattr(slave)
settings[3] |= termios.TOSTOP
termios.tcsetattr(slave, termios.TCSANOW, settings)
child = subprocess.Popen(
    [program, "-P", "-k", key],
    preexec_fn=os.setpgrp,
    stdin=subprocess.PIPE,
    stdout=subprocess.DEVNULL,
    stderr=slave,
)
child.stdin.write(make_input(1 << 20))
child.stdin.flush()
time.sleep(1.5)
child.send_signal(signal.SIGUSR1)
time.sleep(0.2)
if "T" in thread_states(child.pid):
    child.kill()
    fail("in the background: expected the program to continue, but it was stopped")
child.stdin.close()
expect_exit(child, 0, "in the background")
expect_equal(b"", read_terminal(master, patience=0.3), "output from the background")
sys.stdout.flush()
os._exit(0)
PYTHON
