#!/usr/bin/env bash
# A regular file that shrinks while it is read causes an error, and the output written before the error is correct.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *

data = make_input(64 << 20)
want = reference(data)
for lanes in ("cpu:1", "cpu:3"):
    for way in ("stdin", "-i"):
        what = f"-l {lanes}, {way}"
        with open("file", "wb") as f:
            f.write(data)
        r, w = os.pipe()
        options = ["-b", "64K", "-l", lanes]
        if way == "stdin":
            with open("file", "rb") as f:
                child = start(*options, stdin=f, stdout=w, stderr=subprocess.PIPE)
        else:
            child = start(*options, "-i", "file", stdout=w, stderr=subprocess.PIPE)
        os.close(w)
        wait_until_stalled(r)
        os.truncate("file", (32 << 20) + 12345)
        got = read_all(r)
        expect_exit(child, 1, what)
        if len(got) > (32 << 20) + 12345:
            fail(f"{what}: expected at most the rest of the file, got {len(got)} bytes")
        expect_same(want[: len(got)], got, what)
        error = child.stderr.read()
        if error.count(b"gpuaes-stream: error: ") != 1:
            fail(f"{what}: expected one error message, got {error!r}")
        os.close(r)
PYTHON
