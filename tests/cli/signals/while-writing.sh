#!/usr/bin/env bash
# SIGHUP, SIGINT and SIGTERM end the program while the reader of its output is stalled, that is, keeps its end open but
# does not read.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *
import socket

with open("sparse", "wb") as f:
    f.truncate(1 << 28)
os.mkfifo("fifo")
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    for options in (["-i", "/dev/zero"], ["-i", "sparse", "-b", "64K", "-l", "cpu:3"], ["-i", "sparse", "-b", "16"]):
        r, w = os.pipe()
        child = start(*options, stdout=w)
        os.close(w)
        wait_until_stalled(r)
        expect_death_by(child, number, f"stalled consumer, {options}")
        os.close(r)
    ours, theirs = socket.socketpair()
    child = start("-i", "sparse", stdout=theirs)
    wait_until_idle(child)
    expect_death_by(child, number, "stalled socket")
    r = os.open("fifo", os.O_RDWR)
    child = start("-i", "sparse", "-o", "fifo")
    wait_until_stalled(r)
    expect_death_by(child, number, "stalled FIFO")
    os.close(r)
expect_equal(["fifo", "sparse"], sorted(os.listdir()), "unfinished files")
PYTHON
