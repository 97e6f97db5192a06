#!/usr/bin/env bash
# An output that is also the input is refused, under any name, and the input stays intact. A device may be both.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 200000 plain
cp plain x
ln -s x link

expect_exit 2 gs -i x -o x
expect_error 'x and --output are the same file' 'write to another file'
same plain x "after -i x -o x"
expect_exit 2 gs -i x -o ./link
same plain x "after -i x -o link"
expect_exit 2 gs -i link -o x
same plain x "after -i link -o x"
# shellcheck disable=SC2094 # the test reads and writes one file
expect_exit 2 gs -o x <x
expect_error 'the input and --output are the same file' 'write to another file'
same plain x "after -o x <x"
# shellcheck disable=SC2094
append() { gs -i x >>x; }
expect_exit 2 append
expect_error 'x and standard output are the same file' 'write to another file'
same plain x "after -i x >>x"
# shellcheck disable=SC2094
append_stdin() { gs <x >>x; }
expect_exit 2 append_stdin
same plain x "after <x >>x"
read_write() { gs -i x 1<>x; }
expect_exit 2 read_write
same plain x "after -i x 1<>x"
for option in -o --stats --trace; do
  cp "$key" my.key
  expect_exit 2 "$program" -k my.key $option my.key plain
  expect_error "--key and $(case $option in -o) echo --output ;; *) echo "$option" ;; esac) are the same file" \
    'write to another file'
  cmp -s "$key" my.key || fail "expected the key to be intact after -k my.key $option my.key"
done
rm my.key
expect_files link plain x
[ -L link ] || fail "expected the link to be still a link"

expect_exit 0 gs -i /dev/null -o /dev/null
null() { gs </dev/null >/dev/null; }
expect_exit 0 null
