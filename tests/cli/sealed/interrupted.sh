#!/usr/bin/env bash
# The output of an interrupted encryption cannot be opened completely.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *

data = make_input(10 * 16384)


def must_not_open(sealed, what):
    done = subprocess.run([program, "-q", "-d", "-k", key], input=sealed, capture_output=True)
    expect_equal(4, done.returncode, f"{what}: exit status to decrypt {len(sealed)} bytes")
    expect_same(data[: len(done.stdout)], done.stdout, f"{what}: decrypted bytes")


def interrupt(number, size, chunk, stdout):
    what = f"{signal.Signals(number).name} after {size} bytes, -b {chunk}"
    r, w = os.pipe()
    child = start_sealing("-b", chunk, stdin=r, stdout=stdout)
    os.close(r)
    write_all(w, data[:size])
    wait_until_idle(child)
    expect_death_by(child, number, what)
    os.close(w)
    return what


def start_sealing(*options, **popen):
    def signals():
        for s in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(s, signal.SIG_DFL)

    child = subprocess.Popen([program, "-q", "-k", key, *options], preexec_fn=signals, **popen)
    atexit.register(lambda: child.poll() is None and child.kill())
    return child


for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
    cases = [(5 * 16384, "16K"), (0, "16K"), (5 * 16384 + 100, "32K"), (len(data), "1M")]
    for size, chunk in cases if number == signal.SIGTERM else cases[:1]:
        with open("sealed", "wb") as out:
            what = interrupt(number, size, chunk, out)
        with open("sealed", "rb") as f:
            must_not_open(f.read(), what)
        os.remove("sealed")

# The -o file never appears.
r, w = os.pipe()
child = start_sealing("-b", "16K", "-o", "out", stdin=r)
write_all(w, data[: 3 * 16384])
wait_until_idle(child)
expect_death_by(child, signal.SIGTERM, "-o")
expect_equal([], os.listdir(), "unfinished files")
PYTHON
