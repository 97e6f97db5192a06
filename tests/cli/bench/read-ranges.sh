#!/usr/bin/env bash
# gpuaes-bench read reads each range exactly once.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

! sanitized || skip "LeakSanitizer does not work under strace"
need strace
[ -x "$bench" ] || fail "no $bench"
strace -o "$work/trace" true 2>/dev/null || skip "strace cannot trace a program here"

make_input 3000001 plain
strace -ff -e trace=pread64 -o "$work/trace" "$bench" read 3 100000 5 <plain >/dev/null
cat "$work"/trace.* | perl -ne 'print "$1 $2\n" if /^pread64\(0, .*, (\d+)\) += (\d+)$/' | sort -n >ranges
perl -e 'printf "%d %d\n", $_ * 100000, $_ < 30 ? 100000 : 1 for 0 .. 30' >expected
same expected ranges "ranges that are read"
