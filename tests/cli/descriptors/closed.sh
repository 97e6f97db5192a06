#!/usr/bin/env bash
# Any of the three standard descriptors may be closed at the start. Files that the program opens never get their
# numbers, so no message ends up in the output, and no output in the key file.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 200000 plain
reference <plain >expected
cp "$key" key-before

no_stdout() { gs -i plain >&-; }
expect_exit 1 no_stdout
no_stdin() { gs <&-; }
expect_exit 1 no_stdin
expect_empty "$work/stdout"
no_in_out() { gs <&- >&-; }
expect_exit 1 no_in_out
same key-before "$key" "key file, stdin and stdout closed"

# Open in the wrong direction.
write_only_stdin() { gs 0>x; }
expect_exit 1 write_only_stdin
read_only_stdout() { gs -i plain 1<key-before; }
expect_exit 1 read_only_stdout
rm x

no_stderr() { "$program" -f raw --iv "$iv" -k "$key" "$@" 2>&-; }
expect_exit 0 no_stderr <plain
same expected "$work/stdout" "stderr closed"
expect_exit 0 no_stderr -i plain -o out
same expected out "stderr closed, -o"
expect_exit 0 no_stderr -v -i plain -o out --stats stats
same expected out "stderr closed, -v"
rc=0
no_stderr -i missing -o out || rc=$?
[ "$rc" = 1 ] || fail "stderr closed: expected exit status 1, got $rc"
same expected out "stderr closed, after a failure"

rc=0
"$program" -f raw --iv "$iv" -k "$key" -i plain -o out2 <&- >&- 2>&- || rc=$?
[ "$rc" = 0 ] || fail "all closed, -i and -o: expected exit status 0, got $rc"
same expected out2 "all closed, -i and -o"
rc=0
"$program" -f raw --iv "$iv" -k "$key" <&- >&- 2>&- || rc=$?
[ "$rc" = 1 ] || fail "all closed: expected exit status 1, got $rc"
same key-before "$key" "key file, all closed"
expect_files expected key-before out out2 plain stats
