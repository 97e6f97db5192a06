#!/usr/bin/env bash
# The README's examples of keys, passphrases, recipients and new slots run as they are printed.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need tar

# The indented lines from the first example on, up to those that need other programs. Where the program is, is ours to
# say.
sed -n '/^## Examples/,/^With OpenSSL/p' "$here/../../README.md" | sed -n 's/^    //p' | grep -v '^export PATH=' >examples
for part in '/my.key"' '--passphrase-file' '--x25519' '-r ' '--rekey'; do
  grep -q -e "$part" examples || fail "expected an example with $part in the README"
done
run() {
  (cd "$here/../.." && TMPDIR=$work PATH=$(dirname "$program"):$PATH bash -euo pipefail "$work/here/examples")
}
run >"$work/stdout" 2>"$work/stderr" || fail "expected the examples to end well (stderr: $(<"$work/stderr"))"
# Nothing is said but of the file that an example damages.
if grep -v 'input is corrupt' "$work/stderr"; then fail "expected no other message"; fi
grep -q 'error: input is corrupt: 16384 bytes' "$work/stderr" || fail "expected to be told of damage"
[ "$(grep -c '^src/main.cpp$' "$work/stdout")" = 3 ] || fail "expected three lists of an archive, got: $(<"$work/stdout")"
for file in "$work"/tmp.*/{recipient,identity,backup,readme,src.sealed}; do
  [ -s "$file" ] || fail "expected $file"
done
