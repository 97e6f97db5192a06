#!/usr/bin/env bash
# A file that is not in the page cache is sealed in parts, and a file that was sealed in parts is opened like any other,
# as a directory or a single file. None is read into the page cache.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/page_cache.sh"
need python3

# seal_new OPTION...: seals `plain` as the directory `dir` with three parts.
seal_new() {
  local i
  rm -rf dir
  "$parts" plan -q -k "$key" -i plain -n 3 -o dir >/dev/null
  for i in 0 1 2; do "$parts" seal dir -q --part "$i" "$@" || fail "cannot seal part $i"; done
}

# new_input SIZE: makes `plain`, which was modified long ago.
new_input() {
  make_input "$1" plain
  touch -d 2001-01-01 plain
}

for size in 300001 2000003; do
  new_input "$size"
  for lanes in '-l cpu:1 -b 256K' '-l cpu:3 -b 16K' ''; do
    read -ra options <<<"$lanes"
    evict plain
    seal_new "${options[@]}"
    "$parts" join -q dir -o joined
    check_opening joined plain "${options[@]}"
    evict dir/part.*
    expect_exit 0 gsealed -d "${options[@]}" dir
    same plain "$work/stdout" "a directory, $lanes"
    for i in 0 1 2; do
      evict "dir/part.000000$i"
      expect_exit 0 gsealed -d "${options[@]}" --part "$i" dir
      cat "$work/stdout"
    done >together
    same plain together "opened in parts, $lanes"
    rm joined
  done
done

new_input 8000003
has_direct_reads plain || skip "$PWD does not allow direct reads, or eviction from the page cache"
for lanes in '-l cpu:1 -b 256K' '-l cpu:3' ''; do
  read -ra options <<<"$lanes"
  keeps_cache 0 plain seal_new "${options[@]}"
  "$parts" join -q dir -o joined
  check_cache_of_opening joined "${options[@]}"
  keeps_cache 0 dir/part.0000001 "$program" -q -d -k "$key" "${options[@]}" --part 1 dir
  keeps_cache 0 dir/part.0000001 "$program" -q -d -k "$key" "${options[@]}" dir
  rm joined
done
