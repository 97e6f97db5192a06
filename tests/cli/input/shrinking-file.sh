#!/usr/bin/env bash
# A regular file that shrinks while it is read, from the page cache or directly from the disk, causes an error, and the
# output written before the error is correct.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *
import itertools

data = make_input(64 << 20)
want = reference(data)
for lanes, way, cached in itertools.product(("cpu:1", "cpu:3"), ("stdin", "-i"), (True, False)):
    what = f"-l {lanes}, {way}, {'' if cached else 'not '}in the page cache"
    with open("file", "wb") as f:
        f.write(data)
    if not cached:
        evict("file")
    r, w = os.pipe()
    options = ["-b", "256K", "-l", lanes]
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
    if not re.fullmatch(rb"gpuaes-stream: error: .* shrank while it was being read, from 67108864 to \d+ bytes\n", error):
        fail(f"{what}: expected one error message, got {error!r}")
    os.close(r)
PYTHON
