#!/usr/bin/env bash
# gpuaes-bench sweep measures every shape and number of streams, and what it found best the filter uses; not where it
# was told to keep nothing, and not where it was stopped. Without a device it fails and keeps nothing.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

[ -x "$bench" ] || fail "no gpuaes-bench beside $program"
folder=$XDG_CACHE_HOME/gpuaes-stream

sweep() { # WORD...: leaves stdout and stderr in $work, and the exit status in $got
  got=0
  "$bench" sweep "$@" >"$work/stdout" 2>"$work/stderr" || got=$?
}
expect_nothing_kept() {
  if [ -e "$folder" ]; then fail "$1: expected no tuning file, got $(find "$folder")"; fi
}

if ! has_cuda; then
  for words in "" "--keep no --csv" "--ciphers aes-128,aes-256 --size 1M --json"; do
    read -r -a list <<<"$words"
    sweep "${list[@]}"
    [ "$got" = 1 ] || fail "sweep $words without a device: expected exit status 1, got $got"
    expect_empty "$work/stdout"
    expect_stderr '^gpuaes-bench: error: .*CUDA'
    expect_nothing_kept "without a device"
  done
  skip "the rest, as no CUDA device is here"
fi
need python3

sweep --keep no --variants bitslice,ttable,ttable4-shared --ciphers aes-128,aes-256 --json
[ "$got" = 0 ] || fail "expected exit status 0, got $got: $(<"$work/stderr")"
expect_nothing_kept "--keep no"
expect_no_stderr kept
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

# Launches that no more than 16 pieces of the data are for at a time.
sweep --keep no --size 16M --csv
[ "$got" = 0 ] || fail "--size 16M: expected exit status 0, got $got: $(<"$work/stderr")"
expect_stderr '^gpuaes-bench: warning: skipped: bitslice, 32 streams: '
grep -q '^bitslice,aes-256,ctr,16777216,[0-9]*,[0-9]*,[a-z]*,16,' "$work/stdout" || fail "--size 16M: expected 16 streams, got $(<"$work/stdout")"
if grep -q '^bitslice,aes-256,ctr,16777216,[0-9]*,[0-9]*,[a-z]*,32,' "$work/stdout"; then fail "--size 16M: expected no 32 streams"; fi

# Of Kuznyechik a kernel of the filter and one to compare with.
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
expect_stderr '^gpuaes-bench: nothing is kept: .*not measured with AES'
expect_nothing_kept "a sweep of Kuznyechik"

# Kept is nothing of other kernels, nor of a sweep that was stopped.
sweep --variants ttable
[ "$got" = 0 ] || fail "ttable: expected exit status 0, got $got: $(<"$work/stderr")"
expect_stderr '^gpuaes-bench: nothing is kept: .*not measured'
expect_nothing_kept "a sweep without the default kernel"

BENCH=$bench python <<'PYTHON'
import json

from harness import *


def default_signals():
    for each in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)


# More than anybody waits for, after the kernel that would be kept.
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
if "kept" in open("err").read():
    fail(f"expected nothing to be said of what is kept, got {open('err').read()}")
PYTHON
expect_nothing_kept "a sweep that was stopped"

sweep --csv
[ "$got" = 0 ] || fail "expected exit status 0, got $got: $(<"$work/stderr")"
models=$(cat /proc/driver/nvidia/gpus/*/information 2>/dev/null | sed -n "s/^Model:[[:blank:]]*//p" | sort -u | grep -c . || true)
if [ "$models" != 1 ]; then
  expect_stderr '^gpuaes-bench: nothing is kept: the driver'
  expect_nothing_kept "a sweep where the driver does not tell the model"
  skip "the rest, as the driver tells of $models models"
fi
if grep -q '^gpuaes-bench: nothing is kept: the driver calls' "$work/stderr"; then
  expect_nothing_kept "a sweep where CUDA has another name for the device"
  skip "the rest, as CUDA has another name for the device than the driver"
fi
expect_stderr "^gpuaes-bench: kept in $folder/tuning-[A-Za-z0-9-]*: threads [0-9]+, blocks per thread [0-9]+, streams [0-9]+"
shape=$(sed -n 's/^gpuaes-bench: kept in .*\(threads [0-9]*, blocks per thread [0-9]*, streams [0-9]*\).*/\1/p' "$work/stderr")
make_input 3000001 plain
reference <plain >expected
expect_exit 0 "$program" -v -f raw --iv "$iv" -k "$key" -l cuda:0 -i plain
same expected "$work/stdout" "with the tuning file of a sweep"
expect_stderr "tuning file $folder/tuning-[A-Za-z0-9-]*: $shape"
