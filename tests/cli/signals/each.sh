#!/usr/bin/env bash
# Every signal that ends a program by default ends the program, without a core dump and without leaving an unfinished
# file from -o or --rekey. So does the CPU time limit.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3
if can_hide_proc; then export with_temporary_name=1; fi
make_input 100000 plain
gsealed -i plain -o sealed
mkdir out
echo old >out/old

python <<'PYTHON'
from harness import *
import resource

sealed = open("sealed", "rb").read()
os.mkfifo("fifo")


def expect_end_by(child, number, what):
    child.send_signal(number)
    try:
        _, status = wait_for(child)
    except TimeoutError:
        fail(f"{what}, {number.name}: expected the program to end within {A_SECOND} s, but it still runs")
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != number or os.WCOREDUMP(status):
        fail(f"{what}: expected death by {number.name} without a core dump, got wait status {status:#x}")
    expect_equal(["old"], os.listdir("out"), f"{what}, {number.name}: files at the end")


def wait_for(child):
    deadline = time.monotonic() + A_SECOND
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return pid, status
        time.sleep(0.01)
    raise TimeoutError


resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
for number in STOP_SIGNALS:
    fd = os.open("fifo", os.O_RDWR)
    child = start("-b", "4K", "-o", "out/old", stdin=fd)
    os.write(fd, make_input(40000))
    wait_until_idle(child)
    expect_end_by(child, number, "at work")
    os.close(fd)

    if "with_temporary_name" in os.environ:  # it must be removed
        fd = os.open("fifo", os.O_RDWR)
        child = start("-b", "4K", "-o", "out/old", stdin=fd, wrap=WITHOUT_PROC)
        os.write(fd, make_input(40000))
        wait_until_idle(child)
        expect_equal(2, len(os.listdir("out")), "files at work, with a temporary name")
        expect_end_by(child, number, "at work, with a temporary name")
        os.close(fd)

    child = start("-i", "fifo", "-o", "out/old")
    wait_until_idle(child)
    expect_end_by(child, number, "opening a FIFO")

    fd = os.open("fifo", os.O_RDWR)
    child = spawn("-q", "--rekey", "-k", key, "--new-key", key, "-o", "out/old", stdin=fd)
    os.write(fd, sealed[:50000])
    wait_until_idle(child)
    expect_end_by(child, number, "rekeying")
    os.close(fd)


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (1, 60))


child = subprocess.Popen(
    [program, "-q", "-k", key, "-l", "reference:1", "-i", "/dev/zero", "-o", "out/old"], preexec_fn=limit
)
atexit.register(lambda: child.poll() is None and child.kill())
expect_equal(-signal.SIGXCPU, finish(child, "beyond the CPU time limit", PATIENCE + 30), "return code")
expect_equal(["old"], os.listdir("out"), "files at the end beyond the CPU time limit")
expect_equal("old\n", open("out/old").read(), "the old output")
PYTHON

# gpuaes-keygen leaves a complete file or none, whenever a signal arrives.
KEYGEN=$keygen python <<'PYTHON'
from harness import *

rounds = 100 if slow else 400
for i in range(rounds):
    number = STOP_SIGNALS[i % len(STOP_SIGNALS)]
    child = subprocess.Popen(
        [os.environ["KEYGEN"], *(["--x25519"] if i % 2 else []), "-o", "out/key"],
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
        stdout=subprocess.DEVNULL,
    )
    time.sleep(0.006 * i / rounds)
    child.send_signal(number)
    got = finish(child, f"keygen, {number.name}")
    if got not in (0, -number):
        fail(f"keygen, {number.name}: expected return code 0 or {-number}, got {got}")
    if os.path.exists("out/key"):
        size = os.path.getsize("out/key")
        if size < 65:
            fail(f"keygen, {number.name}: expected a complete file or none, got {size} bytes")
        os.remove("out/key")

# It removes an identity file if a signal arrives before the recipient is printed, here because the pipe is full.
for number in STOP_SIGNALS:
    reader, writer = os.pipe()
    os.write(writer, bytes(fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20)))  # the program makes smaller pipes larger
    child = subprocess.Popen(
        [os.environ["KEYGEN"], "--x25519", "-o", "out/key"],
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
        stdout=writer,
    )
    wait_until_idle(child)
    expect_equal(["key", "old"], sorted(os.listdir("out")), f"keygen, pipe full, {number.name}: files")
    child.send_signal(number)
    expect_equal(-number, finish(child, f"keygen, pipe full, {number.name}"), "return code")
    expect_equal(["old"], os.listdir("out"), f"keygen, pipe full, {number.name}: files at the end")
    os.close(reader)
    os.close(writer)
PYTHON
