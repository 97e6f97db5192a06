#!/usr/bin/env bash
# What happens at the name of the output while the program waits for its key: a link that changes is not followed, and if
# one of the inputs appears there, the program fails and no input is lost.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 5000 plain
cp plain expected
cp "$key" second
mkfifo waits

# change COMMAND OPTION...: runs the program, and COMMAND while it waits for the key.
change() {
  local command=$1 status=0
  shift
  "$program" -q -k waits "$@" &
  exec 3>waits # the program has also opened it
  eval "$command"
  cat "$key" >&3
  exec 3>&-
  wait "$!" || status=$?
  return "$status"
}

: >other
ln -s other out
expect_exit 0 change 'ln -sfn plain out' -i plain -o out
same expected plain
[ -s other ] || fail "expected the output in the file that the link named at the start"

expect_exit 2 change 'cp expected late' -k second -i late -o late
same expected late

expect_exit 2 change 'cp second late-key' -k late-key -i plain -o late-key
same second late-key

ln -s other stats
expect_exit 0 change 'ln -sfn sealed stats' -i plain -o sealed --stats stats
grep -q '"bytes_in": 5000' other || fail "expected statistics in the file that the link named at the start"
expect_exit 0 "$program" --test -k "$key" sealed
