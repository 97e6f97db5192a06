#!/usr/bin/env bash
# --trace writes a timeline in which every chunk is read, processed and written once, and the spans of a track nest. It
# does not change the output.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

LANES=$(lanes_here) python <<'PYTHON'
from trace_harness import *

HOST = ("read", "cipher", "write")
DEVICE = ("read", "enqueue", "queue", "H2D", "kernel", "D2H", "device", "write")

for size in (0, 1, 65535, 65536, 65537, 300000, 3000001):
    plain = make_input(size)
    expected = reference(plain)
    with open("plain", "wb") as f:
        f.write(plain)
    for lanes in os.environ["LANES"].split():
        if lanes == "reference" and size > 70000:
            continue
        for chunk in ("64K", "4K", "1M"):
            what = f"{size} bytes, -l {lanes}, -b {chunk}"
            options = ["-l", lanes, "-b", chunk, "--trace", "trace"]
            expect_exit(start("-i", "plain", "-o", "out", *options), 0, what)
            with open("out", "rb") as f:
                expect_same(expected, f.read(), what)
            phases = DEVICE if "cuda" in lanes else HOST
            expect_stream(load("trace"), size, f"{what}, file", phases)
            child = start(*options, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            expect_same(expected, child.communicate(plain)[0], what)
            expect_exit(child, 0, what)
            expect_stream(load("trace"), size, f"{what}, pipe", phases)
expect_equal(["out", "plain", "trace"], sorted(os.listdir()), "files")
PYTHON

# The header of an authenticated stream is not a chunk.
make_input 1000000 plain
expect_exit 0 gsealed -i plain -o sealed --trace trace
expect_exit 0 gsealed -d -i sealed -o back --trace /dev/stdout
same plain back
mv "$work/stdout" opened
python <<'PYTHON'
from trace_harness import *

expect_stream(load("trace"), 1000000, "sealing")
segments = -(-1000000 // 16384)
expect_stream(load("opened"), 1000000 + 16 * segments, "opening")
PYTHON
