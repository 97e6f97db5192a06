#!/usr/bin/env bash
# An output that is also the input is refused, under any name, and the input stays intact. A device may be both.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 200000 plain
cp plain x
ln -s x link

expect_exit 1 gs -i x -o x
expect_error 'x cannot be both input and output' 'write to another file'
same plain x "after -i x -o x"
expect_exit 1 gs -i x -o ./link
same plain x "after -i x -o link"
expect_exit 1 gs -i link -o x
same plain x "after -i link -o x"
# shellcheck disable=SC2094 # the test reads and writes one file
expect_exit 1 gs -o x <x
same plain x "after -o x <x"
# shellcheck disable=SC2094
append() { gs -i x >>x; }
expect_exit 1 append
same plain x "after -i x >>x"
# shellcheck disable=SC2094
append_stdin() { gs <x >>x; }
expect_exit 1 append_stdin
same plain x "after <x >>x"
read_write() { gs -i x 1<>x; }
expect_exit 1 read_write
same plain x "after -i x 1<>x"
expect_files link plain x
[ -L link ] || fail "expected the link to be still a link"

expect_exit 0 gs -i /dev/null -o /dev/null
null() { gs </dev/null >/dev/null; }
expect_exit 0 null
