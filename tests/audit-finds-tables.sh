#!/usr/bin/env bash
# Usage: audit-finds-tables.sh AUDIT PROGRAM. The audit says of the kernel that looks up tables that it does.
set -u
found=$("$1" "$2" ttable_kernel)
status=$?
if [ $status -eq 77 ]; then
  echo "$found"
  exit 77
fi
[ $status -eq 1 ] || { echo "FAIL: expected exit status 1, got $status"; exit 1; }
grep -q 'secret:.*LDS' <<<"$found" || { echo "FAIL: expected loads at secret addresses"; exit 1; }
