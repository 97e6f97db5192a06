#!/usr/bin/env bash
# A file that was sealed in parts is a sealed file: every size, with more parts than segments, with both ciphers. The
# concatenation of head, parts and index is such a file, too.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/parts.sh"

check() { # cipher, size, parts
  local what="$1, $2 bytes, $3 parts" name=$1.$2.$3 pieces=() i
  make_input "$2" "$name"
  plan "$name.job" -c "$1" --label "$what"
  seal_all "$name.job" "$name" "$3" "$name"
  for ((i = $3 - 1; i >= 0; i--)); do pieces+=("$name.$i"); done
  "$parts" join -q --job "$name.job" "${pieces[@]}" -o "$name.sealed" || fail "$what: join"
  "$program" -q -d -k "$key" --label "$what" -i "$name.sealed" -o "$name.plain" || fail "$what: from a file"
  same "$name" "$name.plain" "$what, from a file"
  "$program" -q -d -k "$key" --label "$what" < <(cat "$name.sealed") >"$name.plain" || fail "$what: from a pipe"
  same "$name" "$name.plain" "$what, from a pipe"
  "$program" -q --test -k "$key" --label "$what" "$name.sealed" || fail "$what: --test"

  "$parts" join -q --job "$name.job" --ends "$name" "${pieces[@]}" || fail "$what: --ends"
  { cat "$name.head"; for ((i = 0; i < $3; i++)); do cat "$name.$i"; done; cat "$name.index"; } >"$name.cat"
  "$program" -q -d -k "$key" --label "$what" -i "$name.cat" -o "$name.plain" || fail "$what: concatenated"
  same "$name" "$name.plain" "$what, concatenated"
  # All but the index, which has a salt of its own, is the same.
  local before=$(($(wc -c <"$name.cat") - $(wc -c <"$name.index")))
  same <(head -c "$before" "$name.sealed") <(head -c "$before" "$name.cat") "$what, head and parts"
  rm "$name" "$name".*
}

for case in '0 1' '0 3' '1 1' '1 2' '16383 1' '16384 1' '16384 2' '16385 2' '49152 3' '49152 2' '70001 7' '300000 5'; do
  # shellcheck disable=SC2086 # two words
  check aes-256 $case
done
for case in '0 2' '16384 2' '50000 3'; do
  # shellcheck disable=SC2086 # two words
  check kuznyechik $case
done
[ -z "$(ls -A)" ] || fail "expected no files, got $(ls -A)"
