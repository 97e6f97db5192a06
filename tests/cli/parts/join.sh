#!/usr/bin/env bash
# join refuses parts that are missing, repeated, damaged, of another job, or not cut from the same input, names their
# numbers and files, and writes nothing.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/parts.sh"

make_input 100000 plain
make_input 200000 longer
plan job
plan job2
seal_all job plain 3 part
seal_all job longer 3 longer
seal_all job plain 4 four
seal_all job2 plain 3 stranger

refused() { # status, error, hint, ARGUMENT...
  local status=$1 error=$2 hint=$3
  shift 3
  expect_exit "$status" "$parts" join --job job "$@" -o out
  expect_error "$error" "$hint"
  expect_exit "$status" "$parts" join --job job "$@" --ends ends
  expect_error "$error" "$hint"
  expect_exit "$status" "$parts" join --job job "$@"
  expect_empty "$work/stdout"
  if [ -e out ] || [ -e ends.head ] || [ -e ends.index ]; then fail "expected no output"; fi
}
refused 4 'part 1 is missing; 2 of 3 parts were given' '' part.0 part.2
refused 4 'part 0 is missing; 2 of 3 parts were given' '' part.2 part.1
refused 4 'part 2 is missing; 2 of 3 parts were given' '' part.0 part.1
cp part.1 again
refused 4 'part 1 was given twice, as part.1 and again' '' part.0 part.1 again
refused 4 'part 1 was given twice, as part.1 and again' '' part.0 part.1 again part.2
refused 4 'part 0 (stranger.0) was not sealed with this job file, or its header is damaged' '' stranger.0 part.1 part.2
refused 4 'part.0 is part 0/3, but four.3 is part 3/4; they cannot be parts of one file' '' part.0 four.3 part.1 part.2
refused 4 'part 0 (longer.0) has 81920 bytes of plaintext, not 49152; the parts were cut from inputs of different sizes' \
  'seal all parts again, from an input that does not change' longer.0 part.1 part.2
refused 4 'part 0 (part.0) is one of 3, but --count is 4' '' --count 4 part.0 part.1 part.2
refused 4 'part 0 (part.0) is one of 3, but --count is 2' '' --count 2 part.0 part.1 part.2
refused 2 '/dev/null is not a file' 'parts can be joined only from files' part.0 /dev/null
refused 2 'join cannot read a part from standard input' 'name the file of the part' part.0 part.1 - <part.2
refused 4 'plain is not a sealed part' '' part.0 plain part.2
refused 1 'cannot open missing: No such file or directory' '' part.0 missing

damaged() { # error, COMMAND...
  local error=$1
  shift
  cp part.1 damaged
  "$@"
  refused 4 "part 1 (damaged) $error" '' part.0 damaged part.2
}
truncated='is truncated or has trailing bytes'
damaged "$truncated" truncate -s -1 damaged
damaged "$truncated" truncate -s -16400 damaged
damaged "$truncated" truncate -s +1 damaged
damaged "$truncated" flip damaged 16
damaged 'is corrupt at its end' flip damaged -1
damaged 'was not sealed with this job file, or its header is damaged' flip damaged 17
damaged 'was not sealed with this job file, or its header is damaged' flip damaged 72
damaged 'was not sealed with this job file, or its header is damaged' patch damaged 5 00000004

# Parts that were not cut as I/N.
for i in 0 1 2; do seal_pipe job "$i" "pipe.$i" <plain; done
refused 4 'part 2 is missing; 2 of 3 parts were given' '' --count 3 pipe.0 pipe.1
refused 4 'part 2 (pipe.2) was given, but --count is 2' '' --count 2 pipe.0 pipe.1 pipe.2
refused 4 'pipe.0 is part 0, but part.1 is part 1/3; they cannot be parts of one file' '' --count 2 pipe.0 part.1

# Outputs.
expect_exit 2 "$parts" join --job job part.0 part.1 part.2 -o part.1
expect_error 'part.1 and --output are the same file' 'write to another file'
expect_exit 2 "$parts" join --job job part.0 part.1 part.2 -o job
expect_error '--job and --output are the same file' 'write to another file'
expect_exit 0 "$parts" join --job job --count 3 part.2 part.0 part.1 -o out -v
expect_stderr '^gpuaes-parts: joining 3 parts$'
gsealed -d -i out | cmp - plain || fail "expected the plaintext"

# A part that changes after it was checked, and before it is copied. The output is opened in between.
changes() { # COMMAND...
  cp part.1 changing
  mkfifo fifo
  rm -f "$work/stderr"  # an earlier command printed the line that is awaited
  "$parts" join -v --job job part.0 changing part.2 -o fifo 2>"$work/stderr" &
  until grep -qs '^gpuaes-parts: joining 3 parts$' "$work/stderr"; do sleep 0.01; done
  "$@"
  cat fifo >/dev/null
  got=0
  wait $! || got=$?
  [ "$got" = 1 ] || fail "expected exit status 1, got $got"
  sed -i '/: joining/d' "$work/stderr"
  expect_error 'part 1 (changing) changed while the parts were being joined'
  rm fifo
}
changes flip changing 41
changes truncate -s +1 changing
changes truncate -s 50 changing
