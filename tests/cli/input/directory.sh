#!/usr/bin/env bash
# A directory as input or output is an error.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

mkdir directory
expect_exit 1 gs -i directory
expect_stderr directory
expect_exit 1 gs <directory
expect_empty "$work/stdout"
expect_exit 1 gs -o directory
expect_files directory
