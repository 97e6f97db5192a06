#!/usr/bin/env bash
# SIGHUP, SIGINT and SIGTERM end the program while it runs at full speed, from an endless input to a fast output.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3
mkdir out

python <<'PYTHON'
from harness import *

for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    child = start("-i", "/dev/zero", "-o", "/dev/null")
    time.sleep(1 if slow else 0.2)
    expect_death_by(child, number, "at work")
    child = start("-l", "cpu:1", "-i", "/dev/zero", "-o", "out/new")
    time.sleep(1 if slow else 0.2)
    expect_death_by(child, number, "at work into a file")
    expect_equal([], os.listdir("out"), "unfinished files")
PYTHON
