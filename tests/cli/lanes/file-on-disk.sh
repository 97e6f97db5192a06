#!/usr/bin/env bash
# A file that is not in the page cache gets at least four CPU lanes, even with one CPU.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/page_cache.sh"
need python3 taskset

make_input 8000003 plain
has_direct_reads plain || skip "$PWD does not allow direct reads, or eviction from the page cache"
cpu=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
taskset -pc "$cpu" $$ >/dev/null

expect_lanes() { # COUNT
  expect_exit 0 gs -b 256K -l cpu --stats stats -i plain
  lanes=$(grep -o '"name"' stats | wc -l)
  [ "$lanes" = "$1" ] || fail "expected $1 lanes, got $lanes"
}

evict plain
expect_lanes 4
cat plain >/dev/null
expect_lanes 1
