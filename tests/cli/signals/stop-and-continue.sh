#!/usr/bin/env bash
# A program that is stopped and continued works as if nothing had happened, no matter what it was waiting for.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *

data = make_input(5000000)
r, w = os.pipe()
child = start("-b", "64K", stdin=subprocess.PIPE, stdout=w)
os.close(w)


def stop():
    for _ in range(5):
        child.send_signal(signal.SIGSTOP)
        time.sleep(0.05)
        child.send_signal(signal.SIGCONT)
        time.sleep(0.05)


def feed():
    child.stdin.write(data[1000:])
    child.stdin.close()


wait_until_idle(child)
stop()  # before any input
child.stdin.write(data[:1000])
child.stdin.flush()
wait_until_idle(child)
stop()  # in the middle of the input
thread = threading.Thread(target=feed, daemon=True)
thread.start()
wait_until_stalled(r)
stop()  # with a stalled consumer
got = read_all(r)
expect_exit(child, 0, "stopped and continued")
expect_same(reference(data), got, "stopped and continued")
PYTHON
