#!/usr/bin/env bash
# If -o names a file that cannot exist, the program fails with status 1 and leaves no file.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 100 plain
expect_exit 1 gs -i plain -o missing/out
expect_stderr missing/out
expect_exit 1 gs -i plain -o plain/out
mkdir directory
expect_exit 1 gs -i plain -o directory
ln -s missing/out dangling
expect_exit 1 gs -i plain -o dangling
rmdir directory || fail "expected nothing left in the directory"
expect_files dangling plain
