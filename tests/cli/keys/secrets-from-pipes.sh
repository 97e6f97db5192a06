#!/usr/bin/env bash
# A passphrase is read up to its newline and no further, so the other end of a pipe may stay open. If a secret and the
# input, or two secrets, come from the same file under any name, the program refuses before it reads anything.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 100000 plain
umask 077
echo 'correct horse battery staple' >words
expect_exit 0 "$program" -q --passphrase-file words -i plain -o sealed
gsealed -i plain -o sealed-by-key
"$keygen" --x25519 -o identity >recipient
cp "$key" key
mkfifo fifo

exec 3<>fifo
cat words >&3
expect_exit 0 timeout 60 "$program" -q -d --passphrase-file fifo -i sealed # the FIFO stays open
same plain "$work/stdout"
exec 3<&-
from_another_pipe() { "$program" -q -d -k <(cat "$key") -i sealed-by-key; }
expect_exit 0 from_another_pipe
same plain "$work/stdout"

# refused WHAT COMMAND...: the command fails with a message about WHAT.
refused() {
  local what=$1
  shift
  expect_exit 2 "$@"
  expect_stderr "error: $what"
  expect_stderr 'hint: use a different file for one of them$'
}
from_pipe() { # leaves the unread part of standard input in `rest`
  cat words "$work/long" | { timeout 60 "$program" "$@" && return; status=$?; cat >rest; return "$status"; }
}
head -c 3000 /dev/zero >"$work/long"
expect_untouched() { [ "$(wc -c <rest)" = $((29 + 3000)) ] || fail "$*: expected nothing to be read, got $(wc -c <rest) bytes left"; }

for name in - /dev/stdin /dev/fd/0 /proc/self/fd/0; do
  for option in --passphrase-file -k; do
    what=$([ $option = -k ] && echo --key || echo $option)
    for mode in -e -d --test; do
      refused "$what and the input are both read from standard input" from_pipe $mode $option $name
      expect_untouched "$mode $option $name"
      refused "$what and the input" "$program" $mode $option $name <words
    done
    refused "$what and the input" "$program" $option $name -i - <words
    refused "$what and the input" "$program" $option $name -i /dev/stdin <words
    refused "$what and the input" from_pipe -d $option $name -i /dev/fd/0
    refused "$what and the input" from_pipe --rekey $option $name --new-key key -i /dev/stdin -o out
    refused "--new-passphrase-file and the input" from_pipe --rekey -k key --new-passphrase-file $name
    refused "--new-key and the input" from_pipe --rekey -k key --new-key $name -o out
    refused "$what and --new-key" from_pipe --rekey $option $name --new-key /dev/stdin -i sealed
  done
  refused '--key and --passphrase-file are both read from' from_pipe -k $name --passphrase-file $name -i plain
  refused '--key and --key' from_pipe -k $name -k /dev/stdin -i plain
  refused 'the recipients file and the input' from_pipe -r @$name
  refused '--key and the recipients file' from_pipe -k $name -r @$name -i plain
done
refused '--key and --passphrase-file' "$program" -k - --passphrase-file /dev/stdin -i plain <words
refused 'the recipients file and the input' "$program" -r @- <recipient
refused 'the recipients file and the input' "$program" -R - <recipient
refused '--passphrase-file and the input are both read from words' "$program" --passphrase-file words -i ./words
refused '--key and the input' "$program" -k key -i key
refused '--passphrase-file and the input' "$program" -d --passphrase-file fifo -i fifo
refused '--key and --passphrase-file' "$program" -d -k fifo --passphrase-file fifo -i sealed
[ ! -e out ] || fail "expected no output"

# A list of recipients is public, so the list itself may be the input.
expect_exit 0 "$program" -r @recipient -i recipient -o out
expect_exit 0 "$program" -d -k identity -i out
same recipient "$work/stdout"
expect_exit 0 "$program" -q -k key -k key -i plain
