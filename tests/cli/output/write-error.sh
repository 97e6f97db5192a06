#!/usr/bin/env bash
# A failed write is an error, for short and long output, with -o and with standard output.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 3000000 plain
full() { gs "$@" >/dev/full; }
expect_exit 1 full -i plain
expect_exit 1 full -i plain -b 4K
expect_exit 1 gs -i plain -o /dev/full
printf 'x' >plain
expect_exit 1 full -i plain
expect_stderr 'space|write'
