#!/usr/bin/env bash
# A task that fails or is killed leaves no part and no temporary file, and can be repeated; other parts are not touched.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/parts.sh"

make_input 3000000 plain
plan job
seal_all job plain 1 whole
"$parts" seal --job job --part 0/2 -i plain -o part.0
cp part.0 before

for signal in TERM HUP KILL; do
  mkfifo pipe
  "$parts" seal -q --job job --part 1 -i pipe -o part.1 2>"$work/stderr" &
  exec 3>pipe
  head -c 200000 plain >&3
  sleep 0.2
  kill -s "$signal" $!
  got=0
  wait $! || got=$?
  exec 3>&-
  [ "$got" = $((128 + $(kill -l "$signal"))) ] || fail "$signal: expected to end by it, got $got: $(<"$work/stderr")"
  rm pipe
  if [ "$signal" = KILL ]; then rm -f .part.1.gpuaes-*; fi  # without O_TMPFILE
  expect_files before job part.0 plain whole.0
done

mount_or_skip small -t tmpfs -o size=256k tmpfs
expect_exit 1 "$parts" seal --job job --part 1/2 -i plain -o small/part
expect_stderr '^gpuaes-parts: error: part 1: cannot write small/part after byte [0-9]+: No space left on device$'
[ -z "$(ls -A small)" ] || fail "expected no file, got $(ls -A small)"
expect_exit 1 "$parts" join --job job whole.0 -o small/sealed
[ -z "$(ls -A small)" ] || fail "expected no file, got $(ls -A small)"
expect_exit 0 "$parts" seal --job job --part 1/2 -i plain -o part.1
same before part.0
"$parts" join --job job part.0 part.1 | gsealed -d | cmp - plain || fail "expected the plaintext"
