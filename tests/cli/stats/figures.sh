#!/usr/bin/env bash
# --stats writes JSON with consistent sums.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

check() { # WANTED_BYTES LANES
  python3 - "$1" "$2" <<'PYTHON' || exit 1
import json
import sys

want, lanes = int(sys.argv[1]), int(sys.argv[2])
s = json.load(open("stats"))


def expect(ok, what):
    if not ok:
        sys.exit(f"FAIL: expected {what}, got {s}")


expect({"bytes_in", "bytes_out", "seconds", "cpu_seconds", "lanes", "ring", "peak_rss_bytes"} <= s.keys(), "all the keys")
expect(s["bytes_in"] == want, f"bytes_in to be {want}")
expect(s["bytes_out"] == want, f"bytes_out to be {want}")
expect(0 <= s["seconds"] < 60, "seconds to be small")
expect(0 < s["cpu_seconds"] < 60, "cpu_seconds above 0")
expect(isinstance(s["peak_rss_bytes"], int) and s["peak_rss_bytes"] > 1 << 20, "peak_rss_bytes above 1 MiB")
expect(len(s["lanes"]) == lanes, f"{lanes} lanes")
for lane in s["lanes"]:
    times = {"busy_seconds", "read_seconds", "write_seconds", "wait_seconds"}
    expect({"name", "chunks", "bytes"} | times <= lane.keys(), "all the keys of a lane")
    expect(isinstance(lane["name"], str) and lane["name"].startswith("cpu"), "lanes named cpu...")
    for time in times:
        expect(0 <= lane[time] <= s["seconds"] + 0.1, f"{time} within seconds")
expect(sum(lane["bytes"] for lane in s["lanes"]) == want, f"the sum of the lanes' bytes to be {want}")
chunks = sum(lane["chunks"] for lane in s["lanes"])
expect(-(-want // 65536) <= chunks <= want + 1, "a plausible number of chunks")
ring = s["ring"]
waits = {"reader_wait_seconds", "lanes_wait_seconds", "writer_wait_seconds"}
expect({"chunks", "chunk_bytes"} | waits <= ring.keys(), "all the keys of the ring")
expect(ring["chunks"] >= min(lanes, -(-want // 65536)), "a chunk for each lane that has work")
expect(ring["chunk_bytes"] == 65536, "chunk_bytes as requested")
for time in waits:
    expect(0 <= ring[time] <= s["seconds"] * lanes + 0.1, f"{time} within seconds")
total = sum(lane["wait_seconds"] for lane in s["lanes"])
expect(abs(ring["lanes_wait_seconds"] - total) < 1e-4, "lanes_wait_seconds to be the sum over the lanes")
PYTHON
}

for size in 0 1 65536 65537 3000001; do
  make_input "$size" plain
  reference <plain >expected
  for lanes in 1 3; do
    expect_exit 0 gs -b 64K -l "cpu:$lanes" --stats stats -i plain
    same expected "$work/stdout"
    check "$size" "$lanes"
    from_pipe() {
      # shellcheck disable=SC2002 # the input must be a pipe
      cat plain | gs -b 64K -l "cpu:$lanes" --stats stats -o out
    }
    expect_exit 0 from_pipe
    same expected out
    check "$size" "$lanes"
  done
done
