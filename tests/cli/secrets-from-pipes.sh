#!/usr/bin/env bash
# A passphrase is read up to its line feed and no further, so that the input may follow on the same pipe, and the
# other end may stay open. A key is read to its end, and is refused where it comes from the pipe of the input.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

make_input 100000 plain
echo 'correct horse battery staple' >"$work/words"
chmod 600 "$work/words"

cat "$work/words" plain | "$program" -q --passphrase-file /dev/stdin >sealed
expect_exit 0 "$program" -q -d --passphrase-file "$work/words" -i sealed
same plain "$work/stdout"
cat "$work/words" sealed | "$program" -q -d --passphrase-file /dev/fd/0 >opened
same plain opened

mkfifo fifo
exec 3<>fifo
cat "$work/words" >&3
expect_exit 0 timeout 60 "$program" -q -d --passphrase-file fifo -i sealed # and the FIFO has no end
same plain "$work/stdout"

# shellcheck disable=SC2002 # a pipe is what is tried
from_one_pipe() { cat "$key" | "$program" "$@"; }
for name in /dev/stdin /dev/fd/0; do expect_exit 2 from_one_pipe -k "$name"; done
expect_stderr 'same pipe'
from_another_pipe() { "$program" -q -d -k <(cat "$key") -i sealed-by-key; }
gsealed -i plain -o sealed-by-key
expect_exit 0 from_another_pipe
same plain "$work/stdout"
