#!/usr/bin/env bash
# The program in gpuaes-stream(5), as printed there, opens sealed files, so that page is enough to read them.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography
need mandoc

mandoc -T ascii "$top/man/gpuaes-stream.5" | sed 's/.\x08//g' |
  sed -n '/^ *import sys$/,/\[16400 \* i:/p' |
  python3 -c 'import sys, textwrap; print(textwrap.dedent(sys.stdin.read()))' >open.py
grep -q '^for i in' open.py || fail "expected a program in the man page, got: $(<open.py)"

for size in 0 1 16384 40000; do
  make_input "$size" plain
  gsealed -e <plain >sealed
  printf '%s\n' "${key_hex[256]}" >key.hex
  "$python3" open.py key.hex <sealed >opened
  same plain opened "$size bytes"
done
head -c 30000 sealed >begun
if "$python3" open.py key.hex <begun >/dev/null 2>&1; then fail "expected the program to detect that the end is missing"; fi
