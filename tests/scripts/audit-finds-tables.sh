#!/usr/bin/env bash
# Usage: audit-finds-tables.sh AUDIT PROGRAM. The audit reports the lookups of the kernels with tables.
set -u
for kernel in ttable_kernel kuznyechik_table_kernel; do
  found=$("$1" "$2" $kernel)
  status=$?
  if [ $status -eq 77 ]; then
    echo "$found"
    exit 77
  fi
  [ $status -eq 1 ] || { echo "FAIL: $kernel: expected exit status 1, got $status"; exit 1; }
  grep -q 'secret:.*LDS' <<<"$found" || { echo "FAIL: $kernel: expected loads whose addresses are secret"; exit 1; }
done
