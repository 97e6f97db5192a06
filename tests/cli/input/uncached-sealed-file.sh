#!/usr/bin/env bash
# A file that is not in the page cache is sealed, opened, tested and salvaged like any other, as a whole and in shares.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/page_cache.sh"

all_lanes=('-l cpu:1' '-l cpu:3' '')
if sanitized; then all_lanes=('-l cpu:3'); fi

for size in 250000 300001 2000003; do
  make_input "$size" plain
  gsealed -i plain -o sealed
  perl -pe 'BEGIN { undef $/ } for $at (20000, 190000) { substr($_, $at, 1) ^= "\1" }' sealed >damaged
  gsealed --salvage < <(cat damaged) >salvaged 2>/dev/null || [ $? = 4 ]
  for lanes in "${all_lanes[@]}"; do
    for chunk in '-b 16K' '-b 256K' ''; do
      read -ra options <<<"$lanes $chunk"
      check_opening sealed plain "${options[@]}"
      uncached 4 damaged salvaged gsealed "${options[@]}" --salvage -i damaged
      evict plain
      expect_exit 0 gsealed "${options[@]}" -i plain
      same plain <(gsealed -d <"$work/stdout") "sealed, ${options[*]}"
    done
  done
  rm sealed
done
