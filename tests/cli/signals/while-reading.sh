#!/usr/bin/env bash
# SIGHUP, SIGINT and SIGTERM end the program while it waits for input, and leave no -o file.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3
mkdir out
printf 'old' >out/old

python <<'PYTHON'
from harness import *

os.mkfifo("fifo")
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    for out in ("out/new", "out/old"):
        for fed in (0, 30, 40000):
            fd = os.open("fifo", os.O_RDWR)
            child = start("-b", "4K", "-o", out, stdin=fd)
            os.write(fd, make_input(fed))
            wait_until_idle(child)
            if os.path.exists("out/new"):
                fail("expected no output file before the end")
            expect_death_by(child, number, f"waiting for input after {fed} bytes")
            os.close(fd)
            expect_equal(["old"], os.listdir("out"), "unfinished files")
    r, w = os.pipe()
    child = start("-i", "/dev/stdin", stdin=r, stdout=w)
    wait_until_idle(child)
    expect_death_by(child, number, "waiting for input, no -o")
expect_equal("old", open("out/old").read(), "old output")
PYTHON
