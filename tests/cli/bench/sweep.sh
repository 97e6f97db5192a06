#!/usr/bin/env bash
# gpuaes-bench sweep measures every shape and number of streams, and reports the best. Without a device it fails.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

[ -x "$bench" ] || fail "gpuaes-bench is not in the folder of $program"

sweep() { # WORD...: leaves stdout and stderr in $work, and the exit status in $got
  got=0
  "$bench" sweep "$@" >"$work/stdout" 2>"$work/stderr" || got=$?
}

if ! has_cuda; then
  for words in "" "--csv" "--ciphers aes-128,aes-256 --size 1M --json"; do
    read -r -a list <<<"$words"
    sweep "${list[@]}"
    [ "$got" = 1 ] || fail "sweep $words without a device: expected exit status 1, got $got"
    expect_empty "$work/stdout"
    expect_stderr '^gpuaes-bench: error: .*(CUDA|NVIDIA driver)'
  done
  skip "the rest, as no CUDA device is here"
fi
need python3

sweep --variants bitslice,ttable,ttable4-shared --ciphers aes-128,aes-256 --json
[ "$got" = 0 ] || fail "expected exit status 0, got $got: $(<"$work/stderr")"
for each in "bitslice, aes-128" "ttable, aes-256" "ttable4-shared, aes-128"; do
  expect_stderr "^gpuaes-bench: best of $each: threads [0-9]+, blocks per thread [0-9]+, streams [0-9]+"
done
expect_stderr '^gpuaes-bench: warning: skipped: bitslice, ctr, 512 threads, .*256 threads at most'
STDOUT=$work/stdout python <<'PYTHON'
import json

from harness import *

rows = json.load(open(os.environ["STDOUT"]))
for variant in ("bitslice", "ttable", "ttable4-shared"):
    for cipher in ("aes-128", "aes-256"):
        here = [row for row in rows if (row["variant"], row["cipher"]) == (variant, cipher)]
        def shapes_in(mode):
            return [(row["threads"], row["blocks_per_thread"], row["grid_stride"]) for row in here
                    if row["streams"] is None and row["mode"] == mode]

        shapes = shapes_in("ctr")
        expect_equal(shapes if variant != "ttable4-shared" else [], shapes_in("seal"), f"{variant}: shapes with GCM")
        if len(set(shapes)) != len(shapes):
            fail(f"{variant}: a shape was measured twice: {shapes}")
        most, blocks = {"bitslice": (256, {0, 8, 16}), "ttable": (512, {0, 4, 8}), "ttable4-shared": (256, {1, 2, 4})}[variant]
        for threads in (32, 64, 128, 256, 512):
            got = {shape[1] for shape in shapes if shape[0] == threads}
            if threads <= most and not blocks <= got or variant == "bitslice" and threads > most and got:
                fail(f"{variant}: with {threads} threads these blocks a thread: {got}")
        for threads, each, stride in shapes:
            if variant == "ttable4-shared" and (threads, each, "yes" if stride == "no" else "no") not in shapes:
                fail(f"{variant}: {threads} threads, {each} blocks: only with grid_stride {stride}")
        expect_equal(variant != "ttable4-shared", (0, 0, "yes") in shapes, f"{variant}: its own shape was measured")
        copied = [row for row in here if row["streams"] is not None]
        if not {1, 2, 4, 8, 16, 32, 64} <= {row["streams"] for row in copied}:
            fail(f"{variant}: expected 1 to 64 streams, got {copied}")
        expect_equal(1, len({(row["threads"], row["blocks_per_thread"]) for row in copied}), f"{variant}: shapes with copies")
        if any(row["bytes"] != 4 << 20 or not row["gb_per_s"] > 0 for row in here):
            fail(f"{variant}: expected rates of 4 MiB, got {here}")
PYTHON

# Launches so large that the data has only 16 pieces, so no more than 16 streams can be used.
sweep --size 16M --csv
[ "$got" = 0 ] || fail "--size 16M: expected exit status 0, got $got: $(<"$work/stderr")"
expect_stderr '^gpuaes-bench: warning: skipped: bitslice, 32 streams: '
grep -q '^bitslice,aes-256,ctr,16777216,[0-9]*,[0-9]*,[a-z]*,16,' "$work/stdout" || fail "--size 16M: expected 16 streams, got $(<"$work/stdout")"
if grep -q '^bitslice,aes-256,ctr,16777216,[0-9]*,[0-9]*,[a-z]*,32,' "$work/stdout"; then fail "--size 16M: expected no 32 streams"; fi

# Kuznyechik: a kernel of the filter and one for comparison.
sweep --variants ttable,ls-shared --ciphers kuznyechik --json
[ "$got" = 0 ] || fail "Kuznyechik: expected exit status 0, got $got: $(<"$work/stderr")"
STDOUT=$work/stdout python <<'PYTHON'
import json

from harness import *

rows = json.load(open(os.environ["STDOUT"]))
expect_equal({"kuznyechik"}, {row["cipher"] for row in rows}, "ciphers")
for variant, blocks, modes in (("ttable", {0, 1, 2, 4}, {"ctr", "seal"}), ("ls-shared", {1, 2, 4}, {"ctr"})):
    here = [row for row in rows if row["variant"] == variant]
    expect_equal(modes, {row["mode"] for row in here}, f"{variant}: modes")
    here = [row for row in here if row["mode"] == "ctr"]
    for threads in (32, 64, 128, 256):
        got = {row["blocks_per_thread"] for row in here if row["streams"] is None and row["threads"] == threads}
        if not blocks <= got:
            fail(f"{variant}: with {threads} threads these blocks a thread: {got}")
    if not {1, 2, 4, 8, 16, 32, 64} <= {row["streams"] for row in here}:
        fail(f"{variant}: expected 1 to 64 streams, got {here}")
PYTHON
expect_stderr '^gpuaes-bench: best of ls-shared, kuznyechik: '

# A sweep that is stopped prints the rows measured so far.
BENCH=$bench python <<'PYTHON'
import json

from harness import *


def default_signals():
    for each in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)


# Takes longer than a test can wait.
words = [os.environ["BENCH"], "sweep", "--variants", "*", "--json"]
child = subprocess.Popen(words, preexec_fn=default_signals, stdin=subprocess.DEVNULL, stdout=open("out", "wb"),
                         stderr=open("err", "wb"))
atexit.register(lambda: child.poll() is None and child.kill())
deadline = time.monotonic() + 4 * PATIENCE
while '"ttable"' not in open("out").read():
    if time.monotonic() > deadline or child.poll() is not None:
        fail(f"expected rows of the second kernel, got {open('out').read()} {open('err').read()}")
    time.sleep(0.01)
expect_death_by(child, signal.SIGINT, "a sweep")
rows = json.load(open("out"))
if {row["variant"] for row in rows} != {"bitslice", "ttable"}:
    fail(f"expected the rows until then, got {rows}")
PYTHON
