#!/usr/bin/env bash
# -o follows symbolic links and leaves them unchanged. A link to a file that does not exist is an error.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 100001 plain
reference <plain >expected
mkdir links targets
printf 'old' >targets/there
chmod 640 targets/there
ln -s ../targets/there links/relative
ln -s "$PWD/targets/new" links/dangling
ln -s relative links/twice
ln -s circle links/circle

for link in relative twice; do
  expect_exit 0 gs -i plain -o "links/$link"
  [ -L "links/$link" ] || fail "links/$link: expected it to be still a symbolic link"
  same expected "links/$link"
done
same expected targets/there
[ "$(stat -c %a targets/there)" = 640 ] || fail "expected mode 640, got $(stat -c %a targets/there)"

expect_exit 1 gs -i plain -o links/dangling
expect_error '--output: links/dangling is a symbolic link to a file that does not exist'
expect_exit 1 gs -i plain -o links/circle
expect_stderr 'cannot open links/circle: Too many levels of symbolic links$'
(cd links && expect_files circle dangling relative twice)
(cd targets && expect_files there)
