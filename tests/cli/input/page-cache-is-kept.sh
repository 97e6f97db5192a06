#!/usr/bin/env bash
# The contents of the page cache stay the same: a file that was not there is not read into it, and a file that was there
# is not removed.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/page_cache.sh"
need python3

make_input 8000003 plain
has_direct_reads plain || skip "$PWD does not allow direct reads, or eviction from the page cache"
gsealed -i plain -o sealed
perl -pe 'BEGIN { undef $/ } substr($_, 4000000, 1) ^= "\1"' sealed >damaged

for lanes in '-l cpu:1 -b 256K' '-l cpu:3 -b 256K' '-l cpu:3' ''; do
  read -ra options <<<"$lanes"
  keeps_cache 0 plain gs "${options[@]}" -i plain
  keeps_cache 0 plain gsealed "${options[@]}" -i plain
  check_cache_of_opening sealed "${options[@]}"
  keeps_cache 4 damaged gsealed "${options[@]}" --salvage -i damaged
done

# From standard input, at an offset.
evict plain
exec 3<plain
perl -e 'open my $f, "<&=", 3 or die; sysseek $f, 1000, 0 or die'
expect_exit 0 gs -l cpu:3 <&3
expect_uncached plain 'from standard input'
