#!/usr/bin/env bash
# A file that is not in the page cache is sealed in parts, and a file that was sealed in parts is opened like any other.
# Neither is read into the page cache.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/page_cache.sh"
. "$here/parts.sh"
need python3

# seal_new OPTION...: seals `plain` as the files part.0, part.1 and part.2.
seal_new() {
  rm -f part.*
  seal_all job plain 3 part "$@"
}

plan job
for size in 300001 2000003; do
  make_input "$size" plain
  for lanes in '-l cpu:1 -b 256K' '-l cpu:3 -b 16K' ''; do
    read -ra options <<<"$lanes"
    evict plain
    seal_new "${options[@]}"
    "$parts" join -q --job job part.0 part.1 part.2 -o joined
    "$parts" join -q --job job --ends ends part.0 part.1 part.2
    check_opening joined plain "${options[@]}"
    for i in 0 1 2; do
      evict "part.$i"
      expect_exit 0 "$parts" open -q --job job --ends ends --part "$i" "part.$i" "${options[@]}"
      cat "$work/stdout"
    done >together
    same plain together "opened in parts, $lanes"
    rm joined ends.*
  done
done

make_input 8000003 plain
has_direct_reads plain || skip "$PWD does not allow direct reads, or eviction from the page cache"
for lanes in '-l cpu:1 -b 256K' '-l cpu:3' ''; do
  read -ra options <<<"$lanes"
  keeps_cache 0 plain seal_new "${options[@]}"
  "$parts" join -q --job job part.0 part.1 part.2 -o joined
  "$parts" join -q --job job --ends ends part.0 part.1 part.2
  check_cache_of_opening joined "${options[@]}"
  keeps_cache 0 part.1 "$parts" open -q --job job --ends ends --part 1 part.1 "${options[@]}"
  rm joined ends.*
done
