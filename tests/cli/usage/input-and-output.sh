#!/usr/bin/env bash
# -i and -o replace stdin and stdout. An existing file is replaced and keeps its mode.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000001 plain
reference <plain >expected
mkdir d
cd d

expect_exit 0 gs -i ../plain -o new
same ../expected new "a new file"
expect_empty "$work/stdout"
touch by-touch
[ "$(stat -c %a new)" = "$(stat -c %a by-touch)" ] || fail "a new file: expected mode $(stat -c %a by-touch), got $(stat -c %a new)"
(umask 077 && gs -i ../plain -o private)
[ "$(stat -c %a private)" = 600 ] || fail "a new file under umask 077: expected mode 600, got $(stat -c %a private)"
rm by-touch private

for mode in 600 640 755 400; do
  [ "$(id -u)" = 0 ] || [ "$mode" != 400 ] || continue # not defined for a file without write permission
  make_input 3000000 old
  ln old other-name
  chmod "$mode" old
  expect_exit 0 gs -i ../plain -o old
  same ../expected old "over an existing file"
  [ "$(stat -c %a old)" = "$mode" ] || fail "over an existing file: expected mode $mode, got $(stat -c %a old)"
  [ "$(wc -c <other-name)" = 3000000 ] || fail "expected a new file with the same name rather than an overwritten one"
  rm -f other-name
done

expect_exit 0 gs --decrypt --input=new --output old
same ../plain old "decrypted"
expect_exit 0 gs -o mixed <../plain
same ../expected mixed "stdin and -o"
expect_exit 0 gs -i ../plain
same ../expected "$work/stdout" "-i and stdout"
expect_exit 0 gs -o empty
expect_empty empty "-o, no input"
expect_files empty mixed new old
