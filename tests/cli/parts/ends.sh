#!/usr/bin/env bash
# list prints the index, and open decrypts one part, with the secrets of the file or with its job file. A part under the
# name of another one, another attempt at it, and damaged ends are refused before anything is written.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/parts.sh"

make_input 100000 plain
plan job --label text -c kuznyechik
seal_all job plain 3 part
"$parts" join --job job part.0 part.1 part.2 --ends ends
opened=(-k "$key" --label text)

{
  for i in 0 1 2; do
    length=$(perl -e 'open F, shift; seek F, 9, 0; read F, $b, 8; print unpack "Q>", $b' "part.$i")
    echo "$i $length $(perl -e 'open F, shift; seek F, 41, 0; read F, $b, 32; print unpack "H*", $b' "part.$i")"
  done
} >expected
"$parts" list "${opened[@]}" --ends ends >out
same expected out "list with a key"
"$parts" list --job job --ends ends >out
same expected out "list with the job file"

begin=0
for i in 0 1 2; do
  length=$(awk -v i="$i" '$1 == i {print $2}' expected)
  tail -c "+$((begin + 1))" plain >rest
  head -c "$length" rest >piece
  "$parts" open "${opened[@]}" --ends ends --part "$i" "part.$i" -o out
  same piece out "part $i"
  "$parts" open --job job --ends ends --part "$i" - <"part.$i" >out
  same piece out "part $i, standard input and output"
  "$parts" open --job job --ends ends --part "$i" -T 2 -b 16K - --stats stats < <(cat "part.$i") >out
  same piece out "part $i, from a pipe"
  [ "$(perl -ne 'print $1 if /"bytes_in": (\d+)/' stats)" = "$(wc -c <"part.$i")" ] || fail "part $i: bytes_in in $(<stats)"
  begin=$((begin + length))
done
rm out stats

refused() { # status, error, hint, ARGUMENT...
  local status=$1 error=$2 hint=$3
  shift 3
  expect_exit "$status" "$parts" open --ends ends "$@" -o out
  expect_error "$error" "$hint"
  expect_exit "$status" "$parts" open --ends ends "$@"
  expect_empty "$work/stdout"
  [ ! -e out ] || fail "expected no output"
}
listed='is not the part that the index lists; nothing was written'
refused 4 "part 0: part.1 $listed" '' --job job --part 0 part.1
refused 4 "part 1: part.0 $listed" '' "${opened[@]}" --part 1 part.0
refused 4 "part 1: plain $listed" '' --job job --part 1 plain
refused 2 'part 3: the file has only 3 parts' 'parts are numbered from 0' --job job --part 3 part.2
"$parts" seal --job job --part 1/3 -i plain -o again
refused 4 "part 1: again $listed" '' --job job --part 1 again
for at in 0 4 8 16 17 41; do
  cp part.1 damaged
  flip damaged "$at"
  refused 4 "part 1: damaged $listed" '' --job job --part 1 damaged
done
for size in -1 -16400 +1; do
  cp part.1 damaged
  truncate -s "$size" damaged
  refused 4 "part 1: damaged $listed" '' --job job --part 1 damaged
done
head -c 50 part.1 >damaged
refused 4 "part 1: damaged $listed" '' --job job --part 1 damaged

# From a pipe, the size is checked at the end.
head -c -1 part.1 >damaged
expect_exit 4 "$parts" open --job job --ends ends --part 1 - -o out < <(cat damaged)
expect_error 'part 1: the input is truncated after byte 32888, in part 1; 32768 bytes of plaintext before that were verified'
cp part.1 damaged
flip damaged 20000
expect_exit 4 "$parts" open --job job --ends ends --part 1 damaged -o out
expect_error 'part 1: the input is corrupt at byte 16473, in part 1; 16384 bytes of plaintext before that were verified'
[ ! -e out ] || fail "expected no output"

# Damaged ends.
ends_refused() { # status, error, [hint]
  expect_exit "$1" "$parts" list "${opened[@]}" --ends bad
  expect_error "$2" "${3:-}"
  cp ends.head bad.head
  cp ends.index bad.index
}
cp ends.head bad.head
cp ends.index bad.index
odd='bad.index is damaged, or belongs to another file, or was sealed with a different label'
for at in 0 4 8 16 17 41 -1; do
  flip bad.index "$at"
  ends_refused 4 "$odd"
done
for size in -1 +1 0 50; do
  truncate -s "$size" bad.index
  ends_refused 4 "$odd"
done
cp part.1 bad.index
ends_refused 4 "$odd"
flip bad.index 80
ends_refused 4 'bad.index: the input is corrupt at byte 73, in the index'
printf x >>bad.head
ends_refused 4 'bad.head: the input is not the beginning of a file made of parts' 'join --ends writes it'
gsealed -i plain -o bad.head
ends_refused 4 'bad.head: the input is not the beginning of a file made of parts' 'join --ends writes it'
flip bad.head 30
ends_refused 3 'bad.head: none of the given keys opens the input' \
  'the input was sealed with other secrets, or its header is damaged; --info lists its slots'
rm bad.head
expect_exit 1 "$parts" list "${opened[@]}" --ends bad
expect_error '--ends: cannot open bad.head: No such file or directory'
expect_exit 4 "$parts" list -k "$key" --ends ends
expect_error "${odd/bad/ends}"
