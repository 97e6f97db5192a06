"""If --rekey is interrupted, or its file changes meanwhile, either the old or the new file is there, complete, and no
other file. A copy through a pipe is complete, or the program fails."""

import contextlib
import os
import pathlib
import random
import signal
import subprocess
import time

import pytest

from processes import expect_exit, finish, read_all, unfinished_files, wait_until_stalled
from programs import (KEY, SANITIZED, Result, append, check, expect_same, files_here, overwrite, secret_file,
                      some_bytes, start)

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402
from damage import HEADER  # noqa: E402

KEY_2 = bytes(32 - i for i in range(32))
FILE = pathlib.Path("file")


@pytest.fixture
def keys(key):
    """The names of two key files."""
    return [key, secret_file("../other-key", KEY_2)]


def start_rekey(keys, *options, level=("-q",), **popen):
    """Replaces the first of the keys by the second."""
    old, new = keys
    return start("gpuaes-stream", *level, "--rekey", "-k", old, "--new-key", new, "-i", "file", *options,
                 stderr=subprocess.PIPE, **popen)


def seconds_of_a_run(keys):
    begin = time.monotonic()
    expect_exit(start_rekey(keys), 0)
    return time.monotonic() - begin


def make(tail):
    """A file key, and a sealed file with KEY, followed by other bytes: --rekey does not verify segments."""
    file_key = os.urandom(32)
    head = sf.header(file_key, [sf.key_slot(file_key, KEY)])
    return file_key, head + sf.message(file_key, head[:17], b"") + tail


# --- Signals -------------------------------------------------------------------------------------------------------


def number_of_key(file_key, data):
    """Which of the keys opens the file now. Checks that it is complete."""
    now = FILE.read_bytes()
    expect_same(data[HEADER - 56 :], now[HEADER - 56 :], "bytes after the header")
    slots, end = sf.parse_header(now)
    assert sf.header_mac(file_key, now[:end]) == now[end : end + 32]
    return [sf.unwrap(slots[0], secret, None, None) == file_key for secret in (KEY, KEY_2)].index(True)


def test_a_signal_leaves_the_old_or_the_new_file(keys):
    """SIGKILL, which cannot be caught, may leave a temporary file."""
    file_key, data = make(os.urandom(8 << 20))
    FILE.write_bytes(data)
    whole = seconds_of_a_run(keys)
    current, interrupted = 1, 0
    assert number_of_key(file_key, data) == current
    for _ in range(24 if SANITIZED else 48):
        number = random.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
        after = random.uniform(0, 1.1) * whole
        what = f"{number.name} after {after * 1000:.1f} of {whole * 1000:.1f} ms"
        child = start_rekey([keys[current], keys[1 - current]])
        time.sleep(after)
        child.send_signal(number)
        status = finish(child, what)
        assert status in (0, -number), what
        # SIGKILL may cause a message from a sanitizer.
        assert child.stderr.read() == b"" or number == signal.SIGKILL, what
        interrupted += status != 0
        now = number_of_key(file_key, data)
        assert status != 0 or now == 1 - current, what
        current = now
        left = unfinished_files()
        assert len(left) <= (status == -signal.SIGKILL), what
        for name in left:
            os.unlink(name)
    assert files_here() == ["file"]
    assert interrupted > 0


# --- Changes -------------------------------------------------------------------------------------------------------

SIZE = 64 << 20  # bytes, which take a while to copy
CHANGED = "file changed while it was being read", "the file was not replaced; run the command again"
UNOPENED, REMOVED = ((f"cannot {call} file: No such file or directory", "") for call in ("open", "stat"))


def shrink():
    os.truncate("file", os.path.getsize("file") - 1000)


def grow():
    append(FILE, b"more")


def overwrite_and_reset_the_time():
    times = os.stat("file")
    overwrite(FILE, -1, b"?")
    os.utime("file", ns=(times.st_atime_ns, times.st_mtime_ns))


def replace():
    pathlib.Path("another").write_bytes(FILE.read_bytes())
    os.rename("another", "file")


def messages_of(child, status):
    finish(child)
    return check(Result(child.returncode, b"", child.stderr.read().decode()), "", status)


def is_visible(change, before, now):
    """Whether the contents of a file, or False if it does not exist, show the change. One by another file is not visible."""
    if change == FILE.unlink:
        return now is False
    return len(now) == len(before) - 1000 * (change == shrink) and (now[-1:] == b"?" or change != overwrite_and_reset_the_time)


def shrank(size):
    return f"file shrank while it was being read, from {size} to {size - 1000} bytes", ""


@pytest.mark.parametrize("change", [shrink, overwrite_and_reset_the_time, replace, FILE.unlink])
def test_a_file_that_changes_is_not_replaced(keys, change):
    """Progress is not visible, so the program is stopped at random times until one stop is in the middle of the copy. If
    it succeeds, the change came before or after, and is not lost."""
    _, data = make(some_bytes(SIZE))
    FILE.write_bytes(data)
    whole = seconds_of_a_run(keys)
    in_the_middle = {shrink: shrank(len(data)), FILE.unlink: REMOVED}.get(change, CHANGED)
    for _ in range(100):
        FILE.write_bytes(data)
        child = start_rekey(keys)
        time.sleep(random.uniform(0, whole))
        child.send_signal(signal.SIGSTOP)
        with contextlib.suppress(ChildProcessError):  # it has ended
            os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        change()
        expected = FILE.exists() and FILE.read_bytes()
        child.send_signal(signal.SIGCONT)
        found = messages_of(child, (0, 1))
        now = FILE.exists() and FILE.read_bytes()
        assert is_visible(change, data, now) if found.status == 0 else now == expected
        assert set(files_here()) <= {"file"}
        outcome = found.error.removeprefix("--input: "), found.hint
        if outcome == in_the_middle:
            return
        assert outcome in (("", ""), UNOPENED, CHANGED)  # before, at the start, at the end
    pytest.fail("the program was never stopped in the middle")


@pytest.mark.parametrize("change", [shrink, grow])
def test_a_copy_to_a_pipe_is_complete_or_fails(keys, change):
    _, data = make(some_bytes(SIZE))
    FILE.write_bytes(data)
    r, w = os.pipe()
    child = start_rekey(keys, "-o", "/dev/stdout", level=(), stdout=w)
    os.close(w)
    wait_until_stalled(r)
    change()
    got = read_all(r)
    os.close(r)
    found = messages_of(child, 1 if change == shrink else 0)
    assert (found.error, found.hint) == (shrank(len(data)) if change == shrink else ("", ""))
    assert ["grew" in text for text in found.warnings if text.startswith("file ")] == [True] * (change == grow)
    expect_same(FILE.read_bytes()[HEADER - 56 :], got[HEADER - 56 :])
