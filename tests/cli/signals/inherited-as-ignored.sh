#!/usr/bin/env bash
# A signal that was inherited as ignored stays ignored, as nohup needs.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *

data = make_input(100000)
for number in STOP_SIGNALS:
    child = start(ignore=[number], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdin.write(data[:50000])
    child.stdin.flush()
    wait_until_idle(child)
    child.send_signal(number)
    wait_until_idle(child)
    if child.poll() is not None:
        fail(f"{number.name} ignored: expected the program to continue, but it ended with {child.returncode}")
    got, _ = child.communicate(data[50000:], PATIENCE)
    expect_equal(0, child.returncode, f"{number.name} ignored: return code")
    expect_same(reference(data), got, f"{number.name} ignored")
PYTHON
