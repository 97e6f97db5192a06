#!/usr/bin/env bash
# SIGUSR1 prints the progress once, on a separate line, at any time, with and without -P and with -q. It interrupts
# nothing and does not change the output.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3
make_input 3000000 plain
gsealed -i plain >sealed

python <<'PYTHON'
from harness import *
import re

plain = open("plain", "rb").read()
sealed = open("sealed", "rb").read()
STATE = rb"gpuaes-stream: ([ .\d]{4}[KM]iB| +\d+ B) 0:00:\d\d \[.{7}/s\] \[.{7}/s\](?:  ?\d+%(?: ETA [\d:]+)?)?(?:  cpu:\d+)?\n"


def begin(*options, **popen):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return spawn(*options, **{**pipes, **popen})


def expect_state(child, what):
    """Sends one signal, which must print one line. Returns the amount in it."""
    child.send_signal(signal.SIGUSR1)
    line = b""
    if select.select([child.stderr], [], [], PATIENCE)[0]:
        line = os.read(child.stderr.fileno(), 4096)
    got = re.fullmatch(STATE, line)
    if not got:
        fail(f"{what}: expected one line with the progress, got {line!r}")
    if child.poll() is not None:
        fail(f"{what}: expected the program to continue, but it ended with {child.returncode}")
    return got[1].strip()


# While the program waits in the middle of a stream.
for options in ([], ["-q"], ["-q", "-P"], ["-P"], ["-P", "--size", "3000000"]):
    for ignore in ((), (signal.SIGUSR1,)):
        child = begin("-k", key, "-b", "64K", *options, ignore=ignore, stdout=open("out", "wb"))
        child.stdin.write(plain[: 1 << 20])
        child.stdin.flush()
        wait_until_idle(child)
        for _ in range(3):
            got = expect_state(child, f"{options}, ignored {ignore}")
            if not re.fullmatch(rb"1\.00MiB|9\d\dKiB|0\.9\dMiB", got):
                fail(f"{options}: expected a progress of 1 MiB, got {got!r}")
        _, err = child.communicate(plain[1 << 20 :], PATIENCE)
        expect_equal(0, child.returncode, "return code")
        expect_equal("-P" in options and "-q" not in options, b"2.86MiB" in err, f"{options}: last line")
        back = subprocess.run([program, "-d", "-q", "-k", key], stdin=open("out", "rb"), stdout=subprocess.PIPE)
        expect_same(plain, back.stdout, "decrypted")

# While the program waits for a header, for a key, or for the other end of a FIFO.
child = begin("-d", "-q", "-k", key)
child.stdin.write(sealed[:10])
child.stdin.flush()
wait_until_idle(child)
expect_state(child, "waiting for the header")
out, err = child.communicate(sealed[10:], PATIENCE)
expect_equal((0, b""), (child.returncode, err), "after the header")
expect_same(plain, out, "after the header")

os.mkfifo("fifo")
child = begin("-q", "-k", "fifo", stdin=open("plain", "rb"))
wait_until_idle(child)
expect_state(child, "waiting for the key")
with open("fifo", "wb") as f:
    f.write(open(key, "rb").read())
out, _ = child.communicate(timeout=PATIENCE)
back = subprocess.run([program, "-d", "-q", "-k", key], input=out, stdout=subprocess.PIPE)
expect_same(plain, back.stdout, "after the key")

child = begin("-q", "-k", key, "-i", "fifo", stdout=open("out", "wb"))
wait_until_idle(child)
expect_state(child, "waiting for the FIFO's other end")
with open("fifo", "wb") as f:
    f.write(plain)
expect_exit(child, 0, "after the FIFO")
expect_equal(len(sealed), os.path.getsize("out"), "bytes after the FIFO")

# Many signals until the end, with pipes on both sides: the output is complete and the program survives.
def pester(child):
    while child.poll() is None:
        child.send_signal(signal.SIGUSR1)
        time.sleep(0.0003)


def run_pestered(data, *options):
    child = begin("-q", "-k", key, "-b", "16K", *options, stderr=subprocess.DEVNULL)
    got = []
    reader = threading.Thread(target=lambda: got.append(child.stdout.read()))
    reader.start()
    wait_until_idle(child)
    signals = threading.Thread(target=pester, args=(child,))
    signals.start()
    for at in range(0, len(data), 7001):
        os.write(child.stdin.fileno(), data[at : at + 7001])
    child.stdin.close()
    reader.join(PATIENCE)
    signals.join(PATIENCE)
    expect_exit(child, 0, "with many signals")
    return got[0]


expect_same(plain, run_pestered(sealed, "-d"), "with many signals")
for _ in range(10):
    expect_equal(b"", run_pestered(run_pestered(b""), "-d"), "with many signals")

# While the program asks for a passphrase.
master, slave = open_terminal(80)
start_session_on(slave)
child = begin("-q", "-p", "-f", "openssl", stdin=subprocess.DEVNULL)
read_terminal(master, lambda seen: seen.endswith(b": "))
wait_until_idle(child)
expect_state(child, "waiting for a passphrase")
for question in (b"the same", b""):
    os.write(master, b"words\n")
    if question:
        read_terminal(master, lambda seen: question in seen)
        wait_until_idle(child)
child.communicate(timeout=PATIENCE)
expect_equal(0, child.returncode, "after the passphrase")
sys.stdout.flush()
os._exit(0)
PYTHON
