#!/usr/bin/env bash
# Exceeding a file size limit is a write error like any other: status 1, no new file, and the old content is kept.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000000 plain
printf 'old' >old
limited() (
  ulimit -f 16
  gs -i plain "$@"
)
expect_exit 1 limited -o new
expect_exit 1 limited -o old
[ "$(<old)" = old ] || fail "expected the old content"
expect_files old plain
to_stdout() { limited -d >partial; }
expect_exit 1 to_stdout
