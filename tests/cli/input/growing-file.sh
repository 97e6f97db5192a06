#!/usr/bin/env bash
# A regular file that grows while it is read, from the page cache or directly from the disk, is read to its new end.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *
import itertools

data = make_input(40 << 20)
want = reference(data)
# A file of one chunk has a ring of one chunk.
for (size, chunk), lanes, way, cached in itertools.product(
    ((32 << 20, "256K"), (4 << 20, "4M")), ("cpu:1", "cpu:3"), ("stdin", "-i"), (True, False)
):
    what = f"{size} bytes, chunks of {chunk}, -l {lanes}, {way}, {'' if cached else 'not '}in the page cache"
    with open("file", "wb") as f:
        f.write(data[:size])
    if not cached:
        evict("file")
    r, w = os.pipe()
    options = ["-b", chunk, "-l", lanes]
    if way == "stdin":
        stdin = open("file", "rb", buffering=0)
        child = start(*options, stdin=stdin, stdout=w)
    else:
        child = start(*options, "-i", "file", stdout=w)
    os.close(w)
    wait_until_stalled(r)
    with open("file", "ab") as f:
        f.write(data[size:])
    got = read_all(r)
    expect_exit(child, 0, what)
    expect_same(want, got, what)
    if way == "stdin":
        expect_equal(len(data), os.lseek(stdin.fileno(), 0, os.SEEK_CUR), f"{what}: offset of stdin at the end")
    os.close(r)
PYTHON
