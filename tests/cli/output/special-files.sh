#!/usr/bin/env bash
# -o writes in place to files that are not regular: a device, a FIFO or a pipe.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000001 plain
reference <plain >expected

expect_exit 0 gs -i plain -o /dev/null
[ -c /dev/null ] || fail "expected /dev/null to be still a device"

mkfifo fifo
cat fifo >got &
expect_exit 0 gs -i plain -o fifo
wait "$!"
[ -p fifo ] || fail "expected the FIFO to be still a FIFO"
same expected got "through a FIFO"

to_pipe() { gs -i plain -o /dev/stdout | cat; }
expect_exit 0 to_pipe
same expected "$work/stdout" "through /dev/stdout"
substituted() { gs -i plain -o >(cat >got2; : >ended); }
expect_exit 0 substituted
for ((try = 0; try < 50; try++)); do [ -e ended ] || sleep 0.1; done
same expected got2 "through >()"
expect_files ended expected fifo got got2 plain

# A file that replaces the FIFO while the secrets are read is not written.
mkfifo words
{ echo other >replaced; mv -f replaced fifo; echo 'two words'; } >words &
expect_exit 1 "$program" --passphrase-file words -i plain -o fifo
expect_error '--output: fifo was replaced while it was being opened'
[ "$(<fifo)" = other ] || fail "expected the other file to be unchanged"
