#!/usr/bin/env bash
# Other processes of the same user cannot inspect the program: its files in /proc belong to root.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_user

mkfifo fifo
exec 9<>fifo
hidden() { # COMMAND...: whether its files in /proc belong to root within 5 s, while it waits for input
  "${as_user[@]}" "$@" <fifo >/dev/null 2>&1 9>&- &
  local pid=$! try
  at_exit "kill $pid 2>/dev/null"
  sleep 0.5 # until the shell and setpriv have executed the program
  for ((try = 0; try < 45; try++)); do
    [ "$(stat -c %u "/proc/$pid/environ")" != 0 ] || return 0
    sleep 0.1
  done
  return 1
}
if hidden cat; then skip "files in /proc belong to root for all programs"; fi
hidden "$program" -f raw --iv "$iv" -q -k "$key" ||
  fail "expected /proc/PID/environ to belong to root, as after prctl(PR_SET_DUMPABLE, 0)"
