#!/usr/bin/env bash
# A write that fails is an error, for little output and much, whatever way the output was given.
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
