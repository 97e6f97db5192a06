#!/usr/bin/env bash
# A sealed file that is not in the page cache is sealed, opened, tested and salvaged like any other, as a whole, by range,
# in parts, and if it was sealed in parts.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/page_cache.sh"
. "$here/parts.sh"

all_lanes=('-l cpu:1' '-l cpu:3' '')
if sanitized; then all_lanes=('-l cpu:3'); fi

# uncached STATUS FILE EXPECTED COMMAND...: the command, run while FILE is not in the page cache, exits with STATUS and
# writes the bytes of EXPECTED.
uncached() {
  local status=$1 file=$2 expected=$3
  shift 3
  evict "$file"
  expect_exit "$status" "$@"
  same "$expected" "$work/stdout" "$*"
}

# check_opening FILE NAME: in all ways. The file contains `plain`; those whose names begin with NAME are temporary.
check_opening() {
  local file=$1 i
  uncached 0 "$file" plain gsealed "${options[@]}" -d -i "$file"
  uncached 0 "$file" plain gsealed "${options[@]}" -d <"$file"
  uncached 0 "$file" /dev/null gsealed "${options[@]}" --test -i "$file"
  uncached 0 "$file" plain gsealed "${options[@]}" --salvage -i "$file"
  head -c 230000 plain | tail -c 200000 >"$2.range"
  uncached 0 "$file" "$2.range" gsealed "${options[@]}" -d --range 30000:200000 -i "$file"
  for i in 0 1 2; do
    evict "$file"
    expect_exit 0 gsealed "${options[@]}" -d --part "$i/3" -i "$file"
    cat "$work/stdout"
  done >"$2.parts"
  same plain "$2.parts" "--part of $file"
  rm "$2".*
}

plan job
for size in 250000 300001 2000003; do
  make_input "$size" plain
  gsealed -i plain -o sealed
  seal_all job plain 3 part
  "$parts" join -q --job job part.0 part.1 part.2 -o joined
  "$parts" join -q --job job --ends ends part.0 part.1 part.2
  perl -pe 'BEGIN { undef $/ } for $at (20000, 190000) { substr($_, $at, 1) ^= "\1" }' sealed >damaged
  gsealed --salvage < <(cat damaged) >salvaged 2>/dev/null || [ $? = 4 ]
  for lanes in "${all_lanes[@]}"; do
    for chunk in '-b 16K' '-b 64K' ''; do
      read -ra options <<<"$lanes $chunk"
      check_opening sealed temporary
      check_opening joined temporary
      for i in 0 1 2; do
        evict "part.$i"
        expect_exit 0 "$parts" open -q --job job --ends ends --part "$i" "part.$i" "${options[@]}"
        cat "$work/stdout"
      done >opened
      same plain opened "opened in parts, ${options[*]}"
      uncached 4 damaged salvaged gsealed "${options[@]}" --salvage -i damaged
      evict plain
      expect_exit 0 gsealed "${options[@]}" -i plain -o again
      same plain <(gsealed -d <again) "sealed, ${options[*]}"
      evict plain
      seal_all job plain 3 again "${options[@]}"
      "$parts" join -q --job job again.0 again.1 again.2 -o again.joined
      same plain <(gsealed -d <again.joined) "sealed in parts, ${options[*]}"
      rm again*
    done
  done
  rm part.* ends.* sealed joined
done
