#!/usr/bin/env bash
# The README's examples run as printed and do what the text around them says.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need tar

# All of its shell blocks in order, except those for installation. `photos` and `disk.img` stand for the reader's files.
# shellcheck disable=SC2016 # backticks, not a command
sed '/^## Installation/,/^## Examples/d' "$top/README.md" | sed -n '/^```sh$/,/^```$/{/^```/!p}' >../examples
for part in 'tar -x' --passphrase-file --x25519 --test --info --range --salvage --rekey --label '-f openssl'; do
  grep -q -e "$part" ../examples || fail "expected an example with $part in the README"
done
mkdir photos
echo 'a photo' >photos/1.jpg
make_input 100000 photos/2.jpg
make_input 200000 disk.img

PATH=$(dirname "$program"):$PATH bash -euo pipefail ../examples >"$work/stdout" 2>"$work/stderr" ||
  fail "expected the examples to succeed (stderr: $(<"$work/stderr"))"
grep -Eq 'error: damaged: the input is corrupt.* 16384 bytes' "$work/stderr" || fail "expected a report of the damage"
if grep -Ev 'input is corrupt|format is not authenticated' "$work/stderr"; then fail "expected no other message"; fi
[ "$(grep -c '^photos/2.jpg$' "$work/stdout")" = 3 ] || fail "expected three archives, got: $(<"$work/stdout")"
for line in intact 100 'exit status 4'; do
  grep -qx "$line" "$work/stdout" || fail "expected the line '$line', got: $(<"$work/stdout")"
done
[ "$(wc -c <salvaged.img)" = 200000 ] || fail "expected a salvaged file of 200000 bytes, got $(wc -c <salvaged.img)"
