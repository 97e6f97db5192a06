#!/usr/bin/env bash
# The README's examples of keys, passphrases, recipients, new slots and the openssl format run as they are printed.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need tar

# The indented lines from the first example on, up to those that need an OpenSSL engine. Where the program is, is ours to
# say.
sed -n '/^## Examples/,/^Kuznyechik/p' "$top/README.md" | sed -n 's/^    //p' | grep -v '^export PATH=' >examples
for part in '/my.key"' '--passphrase-file' '--x25519' '-r ' '--rekey' '-f openssl'; do
  grep -q -e "$part" examples || fail "expected an example with $part in the README"
done
run() {
  (cd "$top" && TMPDIR=$work PATH=$(dirname "$program"):$PATH bash -euo pipefail "$work/here/examples")
}
run >"$work/stdout" 2>"$work/stderr" || fail "expected the examples to end well (stderr: $(<"$work/stderr"))"
# The only messages are about the file that an example damages and the format that is not authenticated.
if grep -Ev 'the input is corrupt|openssl format is not authenticated' "$work/stderr"; then fail "expected no other message"; fi
grep -q 'error: the input is corrupt; 16384 bytes' "$work/stderr" || fail "expected to be told of damage"
[ "$(grep -c '^src/main.cpp$' "$work/stdout")" = 3 ] || fail "expected three lists of an archive, got: $(<"$work/stdout")"
for file in "$work"/tmp.*/{recipient,identity,backup,readme,src.sealed}; do
  [ -s "$file" ] || fail "expected $file"
done
