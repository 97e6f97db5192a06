#!/usr/bin/env bash
# Whole blocks are written immediately: they do not wait until a chunk is full or the pipe is closed.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *

data = make_input(48 + 10)
want = reference(data)
child = start(stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
for part in (slice(0, 16), slice(16, 48)):
    child.stdin.write(data[part])
    got = b""
    while len(got) < len(data[part]):
        if not select.select([child.stdout], [], [], A_SECOND)[0]:
            fail(f"expected {len(data[part])} bytes of output within {A_SECOND} s, got {len(got)}")
        got += os.read(child.stdout.fileno(), 1000)
    expect_same(want[part], got, f"bytes {part.start} to {part.stop}")
child.stdin.write(data[48:])
child.stdin.close()
expect_same(want[48:], child.stdout.read(), "the rest")
expect_exit(child, 0, "end of input")
PYTHON
