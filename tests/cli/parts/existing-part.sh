#!/usr/bin/env bash
# The first complete attempt at a part stays: later ones say so, write its receipt and succeed, even if they began
# before it was complete. Any other existing file is an error, and is not replaced either.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/parts.sh"

make_input 50000 plain
make_input 60000 other
plan job
plan job2
seal() { "$parts" seal --job job --part 1/3 -i plain -o part --receipt receipt "$@"; }

expect_exit 0 seal
expect_empty "$work/stderr"
cp part first
cp receipt first.receipt
rm receipt
expect_exit 0 seal --stats stats
expect_stderr '^gpuaes-parts: part 1 is already complete; part was not changed$'
same first part
same first.receipt receipt
[ ! -e stats ] || fail "expected no statistics of a run that did nothing"
expect_exit 0 seal -q
expect_empty "$work/stderr"
# The input is not needed.
expect_exit 0 "$parts" seal -q --job job --part 1/3 -i missing -o part
expect_exit 2 "$parts" seal --job job --part 1/3 -i plain -o part --receipt ./part
expect_error "part 1: --receipt and --output are the same file"
expect_exit 2 "$parts" seal --job job --part 1/3 -i plain -o part --receipt job
expect_error "part 1: --job and --receipt are the same file" "write to another file"

refused() { # status, error, hint, OPTION...
  local status=$1 error=$2 hint=$3
  shift 3
  cp part before
  rm -f receipt
  expect_exit "$status" "$parts" seal -i plain -o part --receipt receipt "$@"
  expect_error "$error" "$hint"
  same before part
  [ ! -e receipt ] || fail "expected no receipt"
}
kept='it was not changed; choose another file'
refused 1 "part 0: part exists and is part 1/3" "$kept" --job job --part 0/3
refused 1 "part 1: part exists and is part 1/3" "$kept" --job job --part 1/4
refused 1 "part 1: part exists and is part 1/3" "$kept" --job job --part 1
refused 4 "part 1: part 1 (part) was not sealed with this job file, or its header is damaged" "$kept" --job job2 --part 1/3
flip part 41
refused 4 "part 1: part 1 (part) was not sealed with this job file, or its header is damaged" "$kept" --job job --part 1/3
cp first part
flip part -1
refused 4 "part 1: part 1 (part) is corrupt at its end" "$kept" --job job --part 1/3
head -c -1 first >part
refused 4 "part 1: part 1 (part) is truncated or has trailing bytes" "$kept" --job job --part 1/3
{ cat first; printf x; } >part
refused 4 "part 1: part 1 (part) is truncated or has trailing bytes" "$kept" --job job --part 1/3
: >part
refused 4 "part 1: part is not a sealed part" "$kept" --job job --part 1/3
make_input 200 part
refused 4 "part 1: part is not a sealed part" "$kept" --job job --part 1/3
cp plain input
expect_exit 2 "$parts" seal --job job --part 1/3 -i input -o input
expect_error "part 1: input and --output are the same file" "write to another file"
# shellcheck disable=SC2094 # refused before it is read
expect_exit 2 "$parts" seal --job job --part 1/3 -o input <input
expect_error "part 1: the input and --output are the same file" "write to another file"
same plain input
rm input

mkdir directory
mkfifo fifo
ln -s missing link
for name in directory fifo link; do
  expect_exit 1 "$parts" seal --job job --part 1/3 -i plain -o "$name"
  expect_error "part 1: $name exists and is not a regular file"
done
rmdir directory
rm fifo link

# One attempt overtakes another. The input of the slower one differs, so its part has another length.
overtaken() { # COMMAND...
  rm -f part receipt slow.receipt
  mkfifo pipe
  "$@" "$parts" seal --job job --part 5 -i pipe -o part --receipt slow.receipt 2>"$work/slow" &
  exec 3>pipe
  head -c 20000 other >&3
  "$parts" seal -q --job job --part 5 -i plain -o part --receipt receipt
  cp part first
  tail -c +20001 other >&3
  exec 3>&-
  wait $! || fail "expected the slower attempt to succeed: $(<"$work/slow")"
  same first part
  same receipt slow.receipt
  [ "$(<"$work/slow")" = "gpuaes-parts: part 5 is already complete; part was not changed" ] ||
    fail "expected a note, got $(<"$work/slow")"
  rm pipe
  "$parts" join --job job --ends ends --count 6 part 2>/dev/null || true
  [ -z "$(find . -name '.*gpuaes*')" ] || fail "expected no temporary file"
}
overtaken env
if can_hide_proc; then overtaken without_proc; fi

# Many attempts at once: exactly one wins.
rm -f part
for i in 1 2 3 4 5 6; do "$parts" seal --job job --part 0/1 -i plain -o part --receipt "receipt$i" 2>>"$work/notes" & done
wait
for i in 2 3 4 5 6; do same receipt1 "receipt$i"; done
[ "$(grep -c 'already complete' "$work/notes")" = 5 ] || fail "expected five notes, got $(<"$work/notes")"
"$parts" join --job job part | gsealed -d | cmp - plain || fail "expected a complete part"
