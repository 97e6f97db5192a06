#!/usr/bin/env bash
# --part I seals all of an input, whose length is known only at its end: parts of any length, from pipes and files, on
# all lanes. They can be joined only with --count.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/parts.sh"

make_input 500000 plain
plan job
at=0 i=0 names=()
for size in 0 1 16383 16384 0 100000 200000; do
  tail -c "+$((at + 1))" plain >rest
  head -c "$size" rest | seal_pipe job "$i" "part.$i" -b 64K --receipt "receipt.$i"
  names+=("part.$i")
  at=$((at + size)) i=$((i + 1))
done
tail -c "+$((at + 1))" plain >rest
"$parts" seal -q --job job --part "$i" -i rest -o "part.$i"
names+=("part.$i")

expect_exit 2 "$parts" join --job job "${names[@]}"
expect_error "--count is required for parts that were not sealed as --part I/N"
"$parts" join -q --job job --count 8 "${names[@]}" -o sealed
gsealed -d -i sealed -o out
same plain out "from a file"
gsealed -d <sealed >out
same plain out "from standard input"
gsealed -d < <(cat sealed) >out
same plain out "from a pipe"
"$parts" join -q --job job --count 8 "${names[@]}" | gsealed -d >out
same plain out "join to a pipe"

# A slow pipe, and a file that grows.
{ printf a; sleep 0.1; printf b; sleep 0.1; head -c 20000 plain; } >expected
{ printf a; sleep 0.1; printf b; sleep 0.1; head -c 20000 plain; } | seal_pipe job 0 slow
"$parts" join --job job --count 1 slow | gsealed -d >out
same expected out "a slow pipe"

for lanes in $(lanes_here); do
  plan "job.$lanes"
  seal_pipe "job.$lanes" 0 "pipe.$lanes" -l "$lanes" <plain
  "$parts" seal -q --job "job.$lanes" --part 0/1 -i plain -o "file.$lanes" -l "$lanes" -b 32K
  for name in "pipe.$lanes" "file.$lanes"; do
    "$parts" join --job "job.$lanes" --count 1 "$name" | gsealed -d >out
    same plain out "$name"
  done
done
