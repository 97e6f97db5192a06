#!/usr/bin/env bash
# -o follows symbolic links, whether or not their target exists, and leaves the links unchanged.
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

for link in relative twice dangling; do
  expect_exit 0 gs -i plain -o "links/$link"
  [ -L "links/$link" ] || fail "links/$link: expected it to be still a symbolic link"
  same expected "links/$link"
done
same expected targets/there
same expected targets/new
[ "$(stat -c %a targets/there)" = 640 ] || fail "expected mode 640, got $(stat -c %a targets/there)"

expect_exit 1 gs -i plain -o links/circle
(cd links && expect_files circle dangling relative twice)
(cd targets && expect_files new there)
