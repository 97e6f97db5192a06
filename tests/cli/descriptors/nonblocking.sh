#!/usr/bin/env bash
# With non-blocking descriptors EAGAIN is neither an error nor the end of input, and waiting takes no CPU time.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *
import socket

data = make_input(3000001)
want = reference(data)


def pipes():
    r, feed = os.pipe()
    drain, w = os.pipe()
    return r, feed, drain, w


def sockets():
    a, b = socket.socketpair()
    c, d = socket.socketpair()
    return a.detach(), b.detach(), c.detach(), d.detach()


for kind in (pipes, sockets):
    r, feed, drain, w = kind()
    set_nonblocking(r)
    set_nonblocking(w)
    child = start("-b", "64K", "-l", "cpu:2", stdin=r, stdout=w)
    os.close(r)
    os.close(w)
    what = f"non-blocking {kind.__name__}"

    wait_until_idle(child)
    before = cpu_seconds(child.pid)
    time.sleep(1)
    used = cpu_seconds(child.pid) - before
    if used > 0.5:
        fail(f"{what}: expected it to sleep without input, but it used {used} s of CPU time in 1 s")

    def feeder():
        for i in range(0, len(data), 99991):
            write_all(feed, data[i : i + 99991])
            time.sleep(0.01)
        os.close(feed)

    thread = threading.Thread(target=feeder, daemon=True)
    thread.start()
    wait_until_idle(child)
    if child.poll() is not None:
        fail(f"{what}: expected it to wait for its consumer, but it ended with {child.returncode}")
    before = cpu_seconds(child.pid)
    time.sleep(1)
    used = cpu_seconds(child.pid) - before
    if used > 0.5:
        fail(f"{what}: expected it to sleep while its consumer is stalled, but it used {used} s of CPU time in 1 s")
    got = read_all(drain)
    expect_exit(child, 0, what)
    expect_same(want, got, what)
PYTHON
