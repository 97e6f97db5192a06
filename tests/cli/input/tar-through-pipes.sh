#!/usr/bin/env bash
# A tar archive survives encryption and decryption through pipes.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need tar

mkdir -p tree/a/b/c tree/empty
for i in 0 1 15 16 17 100 65536 1000003; do make_input "$i" "tree/a/b/file $i"; done
ln -s 'b/file 100' tree/a/link
printf '#!/bin/sh\n' >tree/a/b/c/script
chmod 755 tree/a/b/c/script

mkdir there
tar -cf - tree | gs | gs -d | tar -xf - -C there
diff -r --no-dereference tree there/tree >differences || fail "expected the same tree: $(<differences)"
tar -cf - tree | gs >archive
reference <archive | tar -tf - >list
grep -q 'tree/a/b/c/script' list || fail "expected openssl to open the archive"
