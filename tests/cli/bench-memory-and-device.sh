#!/usr/bin/env bash
# gpuaes-bench memory compares with the reference lane and reports a rate for everything that it measures;
# gpuaes-bench device does so where there is a device, and fails where there is none.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

bench=$(dirname "$program")/gpuaes-bench
[ -x "$bench" ] || fail "no gpuaes-bench beside $program"
rate='[0-9]*[1-9][0-9.]*|0\.0*[1-9][0-9]*'

"$bench" memory 3 >"$work/stdout" || fail "memory: expected exit status 0, got $?"
[ "$(wc -l <"$work/stdout")" = 6 ] || fail "memory: expected six lines, got: $(<"$work/stdout")"
for what in "ctr" "gcm seal" "gcm open"; do
  for chunk in 1024 256; do
    grep -Eq "^memory: aes-256 $what, exact, chunks of $chunk KiB: 1 thread ($rate) GB/s, 3 threads ($rate) GB/s, " \
      "$work/stdout" || fail "memory: expected rates of $what with chunks of $chunk KiB, got: $(<"$work/stdout")"
  done
done
got=0
"$bench" memory 1 >/dev/full 2>"$work/stderr" || got=$?
[ "$got" = 1 ] || fail "memory to a full disk: expected exit status 1, got $got"

got=0
"$bench" device 1M >"$work/stdout" 2>"$work/stderr" || got=$?
if has_cuda; then
  [ "$got" = 0 ] || fail "device: expected exit status 0, got $got: $(<"$work/stderr")"
  grep -Eq "^device: cuda:0, copies of 1024 KiB: to it ($rate) GB/s, from it ($rate) GB/s, both at once ($rate) GB/s" \
    "$work/stdout" || fail "device: expected rates of cuda:0, got: $(<"$work/stdout")"
else
  [ "$got" = 1 ] || fail "device without a device: expected exit status 1, got $got"
  expect_empty "$work/stdout"
  expect_stderr '^gpuaes-bench: error: .*CUDA'
fi
