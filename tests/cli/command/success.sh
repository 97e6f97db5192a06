#!/usr/bin/env bash
# The output of a command after -- is encrypted as if it came through a pipe.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 300000 plain
for size in 0 1 16384 65536 300000; do
  head -c "$size" plain >part
  gs <part >piped
  expect_exit 0 gs -- cat part
  same piped "$work/stdout" "$size bytes"
  expect_exit 0 gs -o out -- head -c "$size" plain
  same piped out "$size bytes, -o"
  for format in sealed cobblestone; do
    expect_exit 0 gsealed -f "$format" -o out -- cat part
    gsealed -d -f "$format" -i out -o opened
    same part opened "$size bytes, $format"
  done
done
printf 'passphrase' >"$work/passphrase"
chmod 600 "$work/passphrase"
expect_exit 0 "$program" -q -f openssl --passphrase-file "$work/passphrase" -- cat plain
openssl enc -d -aes-256-ctr -pbkdf2 -pass pass:passphrase -in "$work/stdout" >opened
same plain opened openssl

# The command reads the program's standard input, and has its environment and its current directory.
expect_exit 0 gs -- tr 0-4 5-9 <plain
same <(tr 0-4 5-9 <plain | gs) "$work/stdout" 'standard input'
expect_exit 0 "$program" -q -f raw --iv "$iv" -k - -- cat plain <"$key"
same <(gs <plain) "$work/stdout" 'key from standard input'
export MARK='a  b'
# shellcheck disable=SC2016 # for the inner shell
expect_exit 0 gs -- sh -c 'echo "$MARK $PWD $#" "$@"; echo noted >&2' sh -d --key -- '' 'c  d'
same <(echo "a  b $PWD 5 -d --key --  c  d" | gs) "$work/stdout" arguments
[ "$(<"$work/stderr")" = noted ] || fail "expected the command's standard error, got: $(<"$work/stderr")"

# Its standard input is closed if the program's is.
closed() { gs -- sh -c 'cat 2>/dev/null' <&-; }
expect_exit 1 closed
expect_error "the command 'sh' failed with exit status 1"

# It may close its output before it ends; the end of the input is when it has ended.
expect_exit 0 gs -o out -- sh -c 'cat plain; exec >&-; sleep 0.3; touch ended'
[ -e ended ] || fail 'expected the program to wait for the command'
same <(gs <plain) out 'output closed early'

# A large output, progress and statistics.
expect_exit 0 "$program" -k "$key" -P --size 100000000 --stats stats -o out -- head -c 100000000 /dev/zero
expect_stderr '100%'
grep -Eq '"bytes_in": *100000000\b' stats || fail "expected 100000000 bytes of input, got: $(<stats)"
gsealed -d -i out | cmp - <(head -c 100000000 /dev/zero) || fail 'expected 100000000 zeros'
