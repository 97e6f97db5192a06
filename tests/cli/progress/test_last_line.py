"""-P prints a last line that shows the progress, even if the run fails or a signal ends it, and the error message is on
a separate line. If standard error is not a terminal, there are few other lines, and none with -q."""

import os
import pathlib
import re
import signal
import subprocess

import pytest

from processes import expect_death_by, expect_exit, feed, open_terminal, read_terminal, set_nonblocking, wait_until_idle
from programs import some_bytes, start, stream

PLAIN = some_bytes(3_000_000)
LAST = rb"(?:gpuaes-stream: )?([ .\d]{4}[KM]iB|\s+\d+ B) 0:00:\d\d \[.{7}/s\](?: +\[=*>? *\])?(?: *\d+%)?  cpu:\d+ *"
NUMBER = r" *[0-9.]+([KMG]i)? ?B"
ALL_OF_IT = r"2\.86MiB 0:00:\d\d \[[ .0-9]{4}[KMG]iB/s\]"


@pytest.fixture(autouse=True)
def files(work):
    pathlib.Path("plain").write_bytes(PLAIN)


@pytest.fixture(params=["pipe", "terminal"])
def ends(request):
    """Both ends of standard error."""
    return os.pipe() if request.param == "pipe" else open_terminal()


def begin(key, *options, **popen):
    return start("gpuaes-stream", "-P", "-k", key, *options, **popen)


def lines_shown(ends):
    """The lines from the pipe, or what the terminal shows at last."""
    os.close(ends[1])
    shown = []
    for line in read_terminal(ends[0]).replace(b"\r\n", b"\n").split(b"\n")[:-1]:
        columns = bytearray()
        for part in line.split(b"\r"):
            columns[: len(part)] = part
        shown.append(bytes(columns).rstrip())
    os.close(ends[0])
    return shown


def expect_last(line, amount):
    found = re.fullmatch(LAST, line)
    assert found and re.fullmatch(amount, found[1]), line


def expect_line(pattern, result):
    """The only message is this line."""
    assert re.fullmatch(f"gpuaes-stream: {pattern}\n", result.err), result.err


def test_a_truncated_input(key, ends):
    pathlib.Path("short").write_bytes(stream("-q", "-k", key, "-i", "plain").out[:2_000_000])
    expect_exit(begin(key, "-d", "-i", "short", stderr=ends[1]), 4)
    *_, last, error, hint = lines_shown(ends)
    expect_last(last, rb"1\.\d\dMiB")
    assert error == (b"gpuaes-stream: error: short: the input is corrupt or truncated at byte 1984575; "
                     b"1982464 bytes of plaintext before that were verified")
    assert hint == b"gpuaes-stream: hint: copy or download it again, or use --salvage to recover the undamaged parts"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal(key, ends, number):
    child = begin(key, "-b", "64K", stdin=subprocess.PIPE, stderr=ends[1])
    feed(child, some_bytes(1 << 20))
    expect_death_by(child, number)
    expect_last(lines_shown(ends)[-1], rb"1\.00MiB|9\d\dKiB|0.9\dMiB")


def test_neither_the_end_nor_a_signal_waits_for_standard_error(key):
    reader, writer = os.pipe()
    set_nonblocking(writer)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(writer, b"x" * 65536)
    os.set_blocking(writer, True)
    expect_exit(begin(key, "-i", "plain", stderr=writer), 0)
    child = begin(key, stdin=subprocess.PIPE, stderr=writer)
    for _ in range(3):
        wait_until_idle(child)
        child.send_signal(signal.SIGUSR1)
    wait_until_idle(child)
    expect_death_by(child, signal.SIGINT)


def test_a_short_run_prints_one_line(key):
    expect_line(rf"{ALL_OF_IT} 100%  cpu:2", stream("-P", "-k", key, "-l", "cpu:2", "-i", "plain"))
    expect_line(rf"{ALL_OF_IT}  cpu:2", stream("-P", "-k", key, "-l", "cpu:2", input=PLAIN))
    expect_line(rf"{NUMBER} 0:00:00 \[{NUMBER}/s\]  cpu:\d+", stream("-P", "-k", key))


def test_the_header_counts_as_input(key):
    stream("-q", "-k", key, "-i", "plain", "-o", "sealed")
    expect_line(rf"{ALL_OF_IT} 100%  cpu:\d+", stream("-d", "-P", "-k", key, "-i", "sealed", "-o", "back"))
