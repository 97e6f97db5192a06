#!/usr/bin/env bash
# An input that does not exist or cannot be read fails with status 1, and the message names it.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

expect_exit 1 gs -i no-such-file
expect_stderr no-such-file
expect_empty "$work/stdout"
printf 'x' >file
expect_exit 1 gs -i file/below

need_user
chmod 000 file
denied() { "${as_user[@]}" "$program" -f raw --iv "$iv" -q -k "$key" -i "$PWD/file"; }
expect_exit 1 denied
denied_key() { "${as_user[@]}" "$program" -f raw --iv "$iv" -q -k "$PWD/file"; }
expect_exit 1 denied_key
