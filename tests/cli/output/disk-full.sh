#!/usr/bin/env bash
# If the file system becomes full while -o is written, the program fails with status 1, leaves no new file, and keeps
# the old content.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

mount_or_skip small -t tmpfs -o size=256k tmpfs
make_input 1000000 plain
printf 'old' >small/old
for out in small/new small/old; do
  expect_exit 1 gs -b 64K -i plain -o "$out"
  expect_stderr "small/"
done
[ "$(<small/old)" = old ] || fail "expected the old content"
(cd small && expect_files old)
