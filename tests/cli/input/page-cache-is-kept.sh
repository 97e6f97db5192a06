#!/usr/bin/env bash
# What is in the page cache stays the same: a file that was not there is not read into it, and a file that was there is
# not removed.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/page_cache.sh"
. "$here/parts.sh"
need python3

make_input 8000003 plain
has_direct_reads plain || skip "no direct reads, or no control of the page cache, in $PWD"
gsealed -i plain -o sealed
perl -pe 'BEGIN { undef $/ } substr($_, 4000000, 1) ^= "\1"' sealed >damaged
plan job
seal_all job plain 3 part
"$parts" join -q --job job part.0 part.1 part.2 -o joined

seal_part() {
  rm -f again
  "$parts" seal -q --job job --part 1/3 -i plain -o again "$@"
}

# check STATUS FILE COMMAND...: with the file not in the page cache, and in it.
check() {
  local status=$1 file=$2 attempt
  shift 2
  evict "$file"
  expect_exit "$status" "$@"
  expect_uncached "$file" "$*"
  # Other programs may empty the page cache at the same time.
  for attempt in 1 2 3; do
    cat "$file" >/dev/null
    expect_exit "$status" "$@"
    if is_cached "$file"; then return; fi
  done
  fail "$*: expected $file to be in the page cache, but only $(cached_bytes "$file") bytes of it are"
}

for lanes in '-l cpu:1 -b 64K' '-l cpu:3 -b 64K' '-l cpu:3' ''; do
  read -ra options <<<"$lanes"
  check 0 plain gs "${options[@]}" -i plain
  check 0 plain gsealed "${options[@]}" -i plain
  check 0 plain seal_part "${options[@]}"
  for file in sealed joined; do
    check 0 "$file" gsealed "${options[@]}" -d -i "$file"
    check 0 "$file" gsealed "${options[@]}" --test -i "$file"
    check 0 "$file" gsealed "${options[@]}" -d --range 1000000: -i "$file"
    check 0 "$file" gsealed "${options[@]}" -d --part 1/2 -i "$file"
  done
  check 4 damaged gsealed "${options[@]}" --salvage -i damaged
done

# From standard input, at an offset.
evict plain
exec 3<plain
perl -e 'open my $f, "<&=", 3 or die; sysseek $f, 1000, 0 or die'
expect_exit 0 gs -l cpu:3 <&3
expect_uncached plain 'from standard input'
