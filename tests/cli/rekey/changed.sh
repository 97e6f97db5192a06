#!/usr/bin/env bash
# If a file shrinks, grows, changes or is replaced while --rekey reads it, --rekey fails with status 1 and does not
# replace it. A copy through a pipe is complete, or the program fails.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to see the program's progress in /proc/PID/fd"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

secret_file("other-key", OTHER_KEY)
file_key = os.urandom(32)
head = sf.header(file_key, [sf.key_slot(file_key, KEY)])
data = head + sf.message(file_key, head[:17], b"") + make_input(96 << 20)
command = [program, "-q", "--rekey", "-k", key, "--new-key", "other-key", "-i", "file"]


def write_new():
    with open("file", "wb") as f:
        f.write(data)


def start_and_stop():
    """A child that was stopped in the middle of copying."""
    for _ in range(200):
        child = subprocess.Popen(command, stderr=subprocess.PIPE)
        atexit.register(lambda: child.poll() is None and child.kill())
        while child.poll() is None:
            if unfinished_bytes(child) > 1 << 20:
                break
        if child.poll() is None:
            child.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            if unfinished_bytes(child) < len(data) // 2:
                return child
            if child.poll() is None:
                child.send_signal(signal.SIGCONT)
        child.wait()
        write_new()
    print("skipped: the program is too fast to be stopped half-way")
    sys.exit(77)


def shrink():
    os.truncate("file", len(data) - 1000)


def grow():
    with open("file", "ab") as f:
        f.write(b"more")


def overwrite():
    with open("file", "r+b") as f:
        f.seek(-1, os.SEEK_END)
        f.write(b"?")


def overwrite_unseen():
    times = os.stat("file")
    overwrite()
    os.utime("file", ns=(times.st_atime_ns, times.st_mtime_ns))


def replace():
    with open("another", "wb") as f:
        f.write(data)
    os.rename("another", "file")


def remove():
    os.remove("file")


for change in (shrink, grow, overwrite, overwrite_unseen, replace, remove):
    what = change.__name__
    write_new()
    child = start_and_stop()
    change()
    expected = open("file", "rb").read() if os.path.exists("file") else None
    child.send_signal(signal.SIGCONT)
    expect_exit(child, 1, what)
    error = child.stderr.read()
    if error.count(b"gpuaes-stream: error: ") != 1:
        fail(f"{what}: expected one error message, got {error!r}")
    if change is not shrink and change is not remove and b"file changed while it was being read\n" not in error:
        fail(f"{what}: expected an error that says so, got {error!r}")
    if b"changed" in error and b"hint: the file keeps its old slots; run the command again to replace them\n" not in error:
        fail(f"{what}: expected a hint, got {error!r}")
    if change is remove and b"error: cannot stat file: No such file or directory\n" not in error:
        fail(f"{what}: expected an error that says so, got {error!r}")
    now = open("file", "rb").read() if os.path.exists("file") else None
    if now != expected:
        fail(f"{what}: expected the changed file to stay unchanged")
    expect_equal([], unfinished_files(), f"{what}: unfinished files")

# Through a stalled pipe: reading past the new end of a shorter file is an error, and bytes that were added are copied.
for change, want in ((shrink, 1), (grow, 0)):
    write_new()
    r, w = os.pipe()
    child = subprocess.Popen([*command, "-o", "/dev/stdout"], stdout=w, stderr=subprocess.PIPE)
    os.close(w)
    wait_until_stalled(r)
    change()
    got = read_all(r)
    os.close(r)
    expect_exit(child, want, f"{change.__name__}, through a pipe")
    now = open("file", "rb").read()
    expect_same(now[HEADER - 56 :], got[HEADER - 56 :], f"{change.__name__}, through a pipe")
PYTHON
