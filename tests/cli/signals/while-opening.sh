#!/usr/bin/env bash
# SIGHUP, SIGINT and SIGTERM end the program while it opens a FIFO whose other end is not open, as input, output or
# key.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *

os.mkfifo("fifo")
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    for options in (["-i", "fifo"], ["-i", "fifo", "-o", "out"], ["-o", "fifo"]):
        child = start(*options)
        wait_until_idle(child)
        expect_death_by(child, number, f"opening a FIFO, {options}")
    child = subprocess.Popen(
        [program, "-f", "raw", "--iv", iv, "-k", "fifo"], preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)
    )
    wait_until_idle(child)
    expect_death_by(child, number, "opening a FIFO as key")
expect_equal(["fifo"], os.listdir(), "unfinished files")
PYTHON
