#!/usr/bin/env bash
# The header and footer of manual pages name this project and no operating system, with mandoc and with groff.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need mandoc groff

for page in "$top"/man/*.[157]; do
  mandoc -T ascii "$page" | sed 's/.\x08//g' >with-mandoc
  groff -m mandoc -T ascii -P -cbou "$page" >with-groff
  for printed in with-mandoc with-groff; do
    sed '/./!d' "$printed" | sed -n '1p; $p' >ends
    if grep -E 'BSD|GNU|Linux|Debian' ends; then fail "$page, $printed: expected no operating system"; fi
    tail -n 1 ends | grep -q '^gpuaes-stream ' || fail "$page, $printed: expected the project in the footer, got: $(<ends)"
  done
done
