#!/usr/bin/env bash
# With a large, nearly empty chunk the program ends as quickly as with a small one, and does not touch the memory of
# the chunk.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
import resource

from harness import *

child = start("-b", "1G", "-l", "cpu:1", stdin=subprocess.PIPE)
child.stdin.write(make_input(100))
child.stdin.flush()
wait_until_idle(child)
expect_death_by(child, signal.SIGTERM, "with a chunk of 1 GiB and 100 bytes in it")
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
if not slow and peak > 256 << 20:
    fail(f"expected less than 256 MiB of memory to be used, got {peak >> 20} MiB")
PYTHON
