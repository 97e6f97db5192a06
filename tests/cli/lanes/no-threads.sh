#!/usr/bin/env bash
# If the system does not allow the threads that a run needs, the program fails with a message and writes no file.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to run as a user without other processes"
! sanitized || skip "sanitizers need threads of their own"
need_user

make_input 1000000 plain
chown 65531 . "$key"
alone() { (ulimit -u 1 && exec setpriv --reuid=65531 --regid=65531 --clear-groups "$program" "$@"); }
expect_exit 1 alone -k "$key" -l cpu:4 -i plain -o out
expect_error 'cannot create a thread or another system resource: Resource temporarily unavailable'
expect_files plain
