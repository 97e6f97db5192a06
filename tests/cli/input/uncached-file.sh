#!/usr/bin/env bash
# A file that is half in the page cache, or not at all, gives the same output as any other: with every size, from its
# start and from an offset, with holes, on tmpfs, and with a limited address space.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/page_cache.sh"

all_lanes=('-l cpu:1' '-l cpu:3' '')
chunks=('-b 256K' '')
if sanitized; then all_lanes=('-l cpu:3') chunks=('-b 256K'); fi

# check FILE WHAT: compares the output with that of openssl. The file is evicted before each run, and then $prepare is
# called with its name.
prepare=true
check() {
  local lanes chunk options
  reference <"$1" >expected
  tail -c +1001 "$1" | reference >expected-rest
  for lanes in "${all_lanes[@]}"; do
    for chunk in "${chunks[@]}"; do
      read -ra options <<<"$lanes $chunk"
      evict "$1" && "$prepare" "$1"
      expect_exit 0 gs "${options[@]}" -i "$1"
      same expected "$work/stdout" "$2, ${options[*]} -i"
      evict "$1" && "$prepare" "$1"
      expect_exit 0 gs "${options[@]}" <"$1"
      same expected "$work/stdout" "$2, ${options[*]} <"
      evict "$1" && "$prepare" "$1"
      exec 3<"$1"
      dd bs=1000 count=1 status=none <&3 >/dev/null
      expect_exit 0 gs "${options[@]}" <&3
      same expected-rest "$work/stdout" "$2, ${options[*]} from offset 1000"
      [ "$(wc -c <&3)" = 0 ] || fail "$2, ${options[*]}: expected stdin at the end of the file"
      exec 3<&-
    done
  done
}

for size in 65537 262143 262144 262145 262656 263144 263145 266239 266240 266241 266752 300001 524287 524288 524289; do
  make_input "$size" plain
  check plain "$size bytes"
done
make_input 12345678 plain
check plain 'a large file'

prepare=cache_first_half
cache_first_half() { head -c $(($(stat -c %s "$1") / 2)) "$1" >/dev/null; }
check plain 'the first half cached'
prepare=cache_second_half
cache_second_half() { tail -c $(($(stat -c %s "$1") / 2)) "$1" >/dev/null; }
check plain 'the second half cached'
prepare=true

make_input 100001 sparse
truncate -s 1M sparse
head -c 300000 plain | tail -c 100001 >>sparse
truncate -s 3000001 sparse
check sparse 'a file with holes'

if memory=$(mktemp -d /dev/shm/gpuaes-XXXXXX 2>/dev/null); then
  at_exit "rm -rf '$memory'"
  cp plain "$memory/plain"
  check "$memory/plain" 'on tmpfs'
else
  skip_part "tmpfs: cannot write to /dev/shm"
fi

if ! sanitized; then
  limited() { (ulimit -v 2000000 && gs "$@"); }
  evict plain
  reference <plain >expected
  expect_exit 0 limited -b 256K -l cpu:3 -i plain
  same expected "$work/stdout" 'with ulimit -v'
fi
