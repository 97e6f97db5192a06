"""On a terminal -P redraws one line, which leaves the last column free, and ends it with a newline. Other
messages clear the line first."""

import os
import pathlib
import re
import signal
import subprocess
import termios
import time

from processes import expect_exit, finish, open_terminal, read_for, read_terminal, set_columns, thread_states
from programs import FOLDER, some_bytes, start
from terminals import in_session

DATA = some_bytes(3_000_000)
AMOUNT = rb" *[\d.]+[KM]iB"
LINE = rb" ?[\d.]+[KM]iB 0:00:\d\d \[.{7}/s\] \[=*> +\] *\d+% ETA \d:\d\d:\d\d  cpu:\d+ *"
LAST = rb"2\.86MiB 0:00:\d\d \[[ .\d]{4}[KM]iB/s\] \[=+\]100%  cpu:\d+ *"


def begin(key, slave, *options):
    """Starts a run that has processed 1 MiB and waits for more."""
    command = ("gpuaes-stream", "-k", key, "-P", "-b", "64K", *options)
    child = start(*command, stdin=subprocess.PIPE, stderr=slave)
    child.stdin.write(DATA[: 1 << 20])
    child.stdin.flush()
    return child


def begin_file(key, slave):
    """Starts a run that has processed a part of the file `plain`, and waits until its output is read."""
    return start("gpuaes-stream", "-k", key, "-P", "-b", "64K", "-i", "plain", stdout=subprocess.PIPE, stderr=slave)


def end(child, master, slave):
    """Returns the rest of the messages."""
    if child.stdin:
        child.stdin.close()
    else:
        child.stdout.read()
    expect_exit(child, 0)
    os.close(slave)
    return read_terminal(master)


def test_redraws_one_line(key):
    pathlib.Path("plain").write_bytes(DATA)
    runs = []
    for columns in 0, 1, 5, 20, 40, 80, 200:
        ends = open_terminal(columns)
        runs.append((columns, begin_file(key, ends[1]), ends))
    for columns, child, ends in runs:
        shown = read_terminal(ends[0], lambda seen: seen.count(b"\r") >= 3)
        shown += end(child, *ends)
        assert shown.endswith(b"\r\n") and shown.count(b"\n") == 1, (columns, shown)
        drawn = shown[:-2].split(b"\r")
        assert drawn[0] == b"" and len(drawn) >= 4, (columns, drawn)
        assert max(map(len, drawn)) < (columns or 80), (columns, drawn)
        if columns in (20, 40):
            assert re.match(AMOUNT + rb" 0:00:", drawn[-2]), (columns, drawn)
            assert re.match(rb" *2\.86MiB 0:00:", drawn[-1]), (columns, drawn)
        if columns in (0, 80, 200):
            assert re.fullmatch(LINE, drawn[-2]), (columns, drawn)
            assert re.fullmatch(LAST, drawn[-1]), (columns, drawn)


def test_a_terminal_that_becomes_narrower_and_wider(key):
    pathlib.Path("plain").write_bytes(DATA)
    master, slave = open_terminal(100)
    child = begin_file(key, slave)
    for columns in 100, 20, 60:
        set_columns(slave, columns)
        seen = read_terminal(master, lambda seen: len(seen.rpartition(b"\r")[2]) == columns - 1)
        assert len(seen.rpartition(b"\r")[2]) == columns - 1, (columns, seen)
    end(child, master, slave)


def test_other_messages_clear_the_line(key):
    master, slave = open_terminal()
    child = begin(key, slave, "-v")
    seen = read_terminal(master, lambda seen: len(re.findall(rb"\r[ \d]", seen)) >= 2)
    child.send_signal(signal.SIGUSR1)
    seen += read_terminal(master, lambda seen: b"\n" in seen)
    seen += end(child, master, slave)
    assert re.search(rb"\r +\rgpuaes-stream: +(1\.00M|\d+K)iB [^\r\n]*\r\n\r", seen), seen
    assert re.search(rb" cpu:\d+ *\r\ngpuaes-stream: encrypted 1\.00 MiB in [^\r\n]*\r\n"
                     rb"gpuaes-stream: 1048576 bytes in, \d+ bytes out; [^\r\n]*\r\n$", seen), seen


def test_in_the_background_nothing_is_drawn(key):
    """The program is not stopped either, although the terminal stops other programs that write to it."""
    master, slave = open_terminal()

    def run():
        settings = termios.tcgetattr(slave)
        settings[3] |= termios.TOSTOP
        termios.tcsetattr(slave, termios.TCSANOW, settings)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": slave}
        child = subprocess.Popen([FOLDER / "gpuaes-stream", "-P", "-k", key], preexec_fn=os.setpgrp, **pipes)
        child.stdin.write(DATA[: 1 << 20])
        child.stdin.flush()
        time.sleep(0.5)  # the line would be drawn after 0.2 s
        child.send_signal(signal.SIGUSR1)
        time.sleep(0.2)
        assert "T" not in thread_states(child.pid)
        child.stdin.close()
        return finish(child)

    assert in_session(slave, run) == 0
    assert read_for(0.1, master) == b""
