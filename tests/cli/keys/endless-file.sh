#!/usr/bin/env bash
# An endless key file is an immediate error.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

endless() { timeout 20 "$program" -f raw --iv "$iv" -k "$1" </dev/null; }
expect_exit 2 endless /dev/zero
truncate -s 1T huge
expect_exit 2 endless huge
