#!/usr/bin/env bash
# A library loaded like NVIDIA's profilers receives NVTX ranges for the reading, processing and writing of every chunk
# on every lane; they nest, and all of them end.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3
[ -n "${GPUAES_NVTX_RECORDER:-}" ] || skip "built without CUDA, which includes NVTX"

make_input 1000000 plain
reference <plain >expected
for lanes in $(lanes_here); do
  if [ "$lanes" = reference ]; then continue; fi
  for via in file pipe; do
    rm -f record
    record() {
      NVTX_INJECTION64_PATH=$GPUAES_NVTX_RECORDER NVTX_RECORD=record gs -b 64K -l "$lanes" -o out "$@"
    }
    from_file() { record -i plain; }
    # shellcheck disable=SC2002 # the input must be a pipe
    from_pipe() { cat plain | record -i /dev/stdin; }
    expect_exit 0 "from_$via"
    same expected out
    LANES=$lanes VIA=$via python <<'PYTHON'
from harness import *
from collections import Counter, defaultdict

cuda = "cuda" in os.environ["LANES"]
what = f"-l {os.environ['LANES']}, {os.environ['VIA']}"
if not os.path.exists("record"):
    fail(f"{what}: expected ranges, but the program did not load the NVTX library")
open_ranges = defaultdict(list)
seen = Counter()
with open("record") as f:
    for line in f:
        thread, act, *name = line.split()
        if act == "push":
            open_ranges[thread].append(name[0])
            seen["/".join(open_ranges[thread])] += 1
        elif not open_ranges[thread]:
            fail(f"{what}: expected no range to end before it begins")
        else:
            open_ranges[thread].pop()
expect_equal([], [r for r in open_ranges.values() if r], f"{what}: ranges that did not end")
chunks = seen["write"]
if chunks < 1000000 // 65536 + 1:
    fail(f"{what}: expected a range for each chunk written, got {chunks}")
work = ["enqueue", "enqueue/H2D", "enqueue/kernel", "enqueue/D2H", "device"] if cuda else ["cipher"]
expect_equal({name: chunks for name in work}, {name: seen[name] for name in work}, f"{what}: ranges of the work")
# A CUDA lane with jobs in progress may look for more input and find none.
if seen["read"] < chunks if cuda else seen["read"] != chunks:
    fail(f"{what}: expected {chunks} ranges of reading, got {seen['read']}")
# A CUDA device begins with one self-test, regardless of the number of lanes.
expect_equal(int(cuda), seen["self-test"], f"{what}: self-tests")
ours = {name for name in seen if not name.startswith("self-test")}
expect_equal(set(work) | {"read", "write"}, ours, f"{what}: ranges")
PYTHON
  done
done
