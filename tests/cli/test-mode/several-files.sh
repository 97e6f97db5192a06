#!/usr/bin/env bash
# --test verifies several files and prints a line for each. It continues after an error, and the exit status is the
# highest one. Secrets are read once.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 60000 plain
(umask 077 && tail -c 32 plain >other.key && echo 'correct horse' >words)
gsealed plain >good
gsealed -c kuznyechik plain >second
head -c 16575 good >short
"$program" -q -k other.key plain >other
"$program" -q --passphrase-file words plain >by-words
mkdir directory

# try STATUS OK... -- OPTION...: these files are reported as good, and nothing else is written to standard output.
try() {
  local want=$1 got=0 oks=()
  shift
  while [ "$1" != -- ]; do
    oks+=("$1: ok")
    shift
  done
  "$program" "${@:2}" >"$work/stdout" 2>"$work/stderr" || got=$?
  [ "$got" = "$want" ] || fail "${*:2}: expected exit status $want, got $got (stderr: $(<"$work/stderr"))"
  [ "$(<"$work/stdout")" = "$(printf '%s\n' "${oks[@]}")" ] || fail "${*:2}: expected ${oks[*]}, got $(<"$work/stdout")"
}
# expect_errors TEXT...: exactly these errors, in this order.
expect_errors() {
  [ "$(sed -n 's/^gpuaes-stream: error: //p' "$work/stderr")" = "$(printf '%s\n' "$@")" ] ||
    fail "expected the errors $(printf '\n%s' "$@"), got: $(<"$work/stderr")"
}
t=(-t -k "$key")

try 0 good second good -- "${t[@]}" good second good
expect_empty "$work/stderr"
try 0 good second -- "${t[@]}" -l cpu:2 -b 16K good second
try 0 -- "${t[@]}" -q good second
try 0 good "standard input" good -- "${t[@]}" good - good <second
try 4 good good -- "${t[@]}" good short missing directory other good
expect_errors 'short: the input is truncated after byte 16575; 16384 bytes of plaintext before that were verified' \
  'cannot open missing: No such file or directory' 'directory does not contain a sealed file in parts' \
  'other: none of the given keys opens the input'
try 4 good -- "${t[@]}" - good <short
expect_stderr 'error: standard input: '
try 3 good -- "${t[@]}" missing other good
try 1 good -- "${t[@]}" missing good
try 3 good -- "${t[@]}" good other
try 4 good -- "${t[@]}" --salvage short good
expect_errors 'short: the input is truncated after byte 16575; 16384 bytes of plaintext before that were verified; nothing after that was recovered'
try 4 -- "${t[@]}" -q short short
try 0 good second -- "${t[@]}" -P good second
[ "$(grep -Ec '^gpuaes-stream: (good|second): *[0-9.]*KiB .* 100%' "$work/stderr")" = 2 ] || fail "-P: expected a line for each file"
cp good $'two\nlines'
try 0 'two?lines' good -- "${t[@]}" $'two\nlines' good
rm $'two\nlines'

# Each secret is read once, and standard input can be the secret or one of the files.
try 0 good second good -- -t -k - good second good <"$key"
mkfifo pipe
for option in -k --passphrase-file; do
  if [ "$option" = -k ]; then secret=$key files=(good second); else secret=words files=(by-words by-words); fi
  cat "$secret" >pipe &
  try 0 "${files[@]}" -- -t "$option" pipe "${files[@]}"
done
from_descriptor() { try 0 by-words good -- -t -k "$key" --passphrase-file /dev/fd/7 by-words good 7< <(cat words); }
from_descriptor
(umask 022 && chmod 644 other.key)
try 0 other other -- -t -k other.key other other
[ "$(wc -l <"$work/stderr")" = 1 ] || fail "expected one warning about the key file, got: $(<"$work/stderr")"

# An error that concerns all files is reported before any is read.
refused() { # ERROR HINT OPTION...
  expect_exit 2 "$program" "${@:3}"
  expect_error "$1" "$2"
}
standard_input_twice() { refused 'the input and another input are both read from standard input' \
  'use a different file for one of them' "${t[@]}" - good -; }
standard_input_twice <good
standard_input_twice < <(cat good)
refused 'the input and another input are both read from pipe' 'use a different file for one of them' "${t[@]}" pipe pipe
refused '--key and another input are both read from words' 'use a different file for one of them' -t -k words good words
refused 'the raw format is not authenticated, so --test cannot verify anything' 'authenticated formats: sealed, cobblestone' \
  "${t[@]}" -f raw --iv "$iv" good good
for option in --stats --trace; do refused "$option requires a single input" '' "${t[@]}" $option figures good good; done
expect_files plain other.key words good second short other by-words directory pipe

if [ -c /dev/full ]; then
  full() { "$program" "${t[@]}" good short good >/dev/full; }
  expect_exit 1 full
  expect_stderr 'cannot write standard output'
fi

# A signal ends the program, not only the current file; an earlier error does not prevent that.
python <<'PYTHON'
from harness import *

for fed in (0, 20000):
    fd = os.open("pipe", os.O_RDWR)
    os.write(fd, open("good", "rb").read()[:fed])
    child = spawn("-t", "-k", key, "short", "pipe", "good", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    wait_until_idle(child)
    expect_death_by(child, signal.SIGINT, f"in the second file, after {fed} bytes")
    os.close(fd)
    expect_same(b"", child.stdout.read(), "standard output")
PYTHON
