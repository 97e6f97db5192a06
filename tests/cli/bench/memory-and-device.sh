#!/usr/bin/env bash
# gpuaes-bench memory compares its output with the reference lane's and reports a rate for every measurement. The
# commands for devices and kernels also report their rates if there is a device, and fail without one.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

[ -x "$bench" ] || fail "gpuaes-bench is not in the folder of $program"
rate='([0-9]*[1-9][0-9.]*|0\.0*[1-9][0-9]*)(e[+-][0-9]+)?'

expect_rates() { # THREADS CIPHERS COUNT...: each kind of work with that number of threads, and nothing else
  local words=(memory --csv "$1") ciphers=$2 chunk cipher mode count aead
  shift 2
  if [ -n "$ciphers" ]; then words+=(--ciphers "$ciphers"); fi
  read -r -a list <<<"${ciphers//,/ }"
  if [ -z "$ciphers" ]; then list=(aes-256); fi
  "$bench" "${words[@]}" >"$work/stdout" || fail "${words[*]}: expected exit status 0, got $?"
  [ "$(wc -l <"$work/stdout")" = $((1 + 6 * $# * ${#list[@]})) ] ||
    fail "${words[*]}: expected other rows than $(<"$work/stdout")"
  for cipher in "${list[@]}"; do
    aead=gcm
    if [ "$cipher" = kuznyechik ]; then aead=mgm; fi
    for chunk in 1048576 262144; do
      for mode in "ctr" "$aead seal" "$aead open"; do
        for count; do
          grep -Eq "^$mode,$cipher,$chunk,$count,$rate\$" "$work/stdout" ||
            fail "${words[*]}: expected a rate of $mode, $chunk bytes, $count threads, got: $(<"$work/stdout")"
        done
      done
    done
  done
}
expect_rates 3 "" 1 3
expect_rates 1 "" 1
expect_rates 2 aes-128,kuznyechik,aes-192 1 2
got=0
"$bench" memory 1 >/dev/full 2>"$work/stderr" || got=$?
[ "$got" = 1 ] || fail "memory to a full disk: expected exit status 1, got $got"

make_input 3000000 plain
kernels="kernels --variants bitslice,ttable,sbox-constant,ttable4-shared,ls-* --modes ctr,aead,ecb"
kernels+=" --ciphers aes-128,aes-192,aes-256,kuznyechik"
for command in "device 1M" "$kernels --sizes 1000K,16 --copies no,yes" limits "keys --ciphers aes-128,kuznyechik --modes ctr,open" \
  "transfer --steps read,in,read+in+out --streams 1,2 --sizes 1M"; do
  read -r -a words <<<"$command"
  got=0
  "$bench" "${words[@]}" --csv <plain >"$work/stdout" 2>"$work/stderr" || got=$?
  if has_cuda; then
    [ "$got" = 0 ] || fail "$command: expected exit status 0, got $got: $(<"$work/stderr")"
  else
    [ "$got" = 1 ] || fail "$command without a device: expected exit status 1, got $got"
    expect_empty "$work/stdout"
    expect_stderr '^gpuaes-bench: error: .*(CUDA|NVIDIA driver)'
  fi
  mv "$work/stdout" "$work/${words[0]}"
done
for input in /dev/null:'is not a file' plain:'shorter than a chunk'; do
  got=0
  "$bench" transfer --steps read --sizes 4M <"${input%:*}" >"$work/stdout" 2>"$work/stderr" || got=$?
  [ "$got" = 1 ] || fail "transfer from ${input%:*}: expected exit status 1, got $got"
  expect_empty "$work/stdout"
  grep -q 'built without CUDA' "$work/stderr" || expect_stderr "standard input.*${input#*:}"
done
has_cuda || skip "the rest, as no CUDA device is here"
for what in "to device" "from device" '"both at once, each way"'; do
  grep -Eq "^cuda:0,$what,1048576,$rate,GB/s\$" "$work/device" ||
    fail "device: expected a rate of cuda:0, $what, got: $(<"$work/device")"
done
for steps in read in read+in+out; do
  for streams in 1 2; do
    grep -Eq "^$steps,1,$streams,1048576,2,$((2 * streams)),$rate,$rate\$" "$work/transfer" ||
      fail "transfer: expected a rate of $steps with $streams streams, got: $(<"$work/transfer")"
  done
done
got=0
"$bench" transfer --devices 4096 >"$work/stdout" 2>"$work/stderr" || got=$?
[ "$got" = 1 ] || fail "transfer with too many devices: expected exit status 1, got $got"
expect_stderr 'this machine has [0-9]+ CUDA devices'
# For each size and kind of copies, 3 modes: for AES, each key length with two of the filter's kernels and two variants;
# for Kuznyechik, two of the filter's kernels and four variants.
[ "$(wc -l <"$work/kernels")" = $((1 + 2 * 2 * 3 * (3 * (2 + 2) + 2 + 4))) ] ||
  fail "kernels: expected other rows than $(<"$work/kernels")"
for size in 1024000 16; do
  for memory in constant global shared texture; do
    for mode in ctr ecb-encrypt ecb-decrypt; do
      grep -Eq "^ls-$memory,kuznyechik,$mode,$size,[0-9]+,no,[124],$rate,[a-z ]+,$rate,$rate,[0-9]+,[0-9]+,[0-9]+\$" "$work/kernels" ||
        fail "kernels: expected a rate of Kuznyechik with tables in $memory memory, $mode, got: $(<"$work/kernels")"
    done
  done
done
for cipher in aes-128 aes-192 aes-256 kuznyechik; do
  local_bytes=0
  if [ $cipher = kuznyechik ]; then local_bytes='[0-9]+'; fi
  for size in 1024000 16; do
    for mode in ctr seal open; do
      grep -Eq "^bitslice,$cipher,$mode,$size,[0-9]+,no,,$rate,[a-z ]+,$rate,$rate,[0-9]+,$local_bytes,[0-9]+\$" "$work/kernels" ||
        fail "kernels: expected a rate of $cipher, $mode, got: $(<"$work/kernels")"
      grep -Eq "^ttable,$cipher,$mode,$size,[0-9]+,yes,,$rate,link,$rate,$rate,,,\$" "$work/kernels" ||
        fail "kernels: expected a rate with copies of $cipher, $mode, got: $(<"$work/kernels")"
    done
    if [ $cipher = kuznyechik ]; then continue; fi
    for mode in ctr ecb-encrypt ecb-decrypt; do
      grep -Eq "^sbox-constant,$cipher,$mode,$size,[0-9]+,no,[0-9]+,$rate,[a-z ]+,$rate,$rate,[0-9]+,[0-9]+,[0-9]+\$" "$work/kernels" ||
        fail "kernels: expected a rate of S-boxes, $cipher, $mode, got: $(<"$work/kernels")"
    done
  done
done
[ "$(grep -Ec ",$rate,(TB|10\^12)/s\$" "$work/limits")" = 8 ] || fail "limits: expected 8, got: $(<"$work/limits")"
for cipher in aes-128 kuznyechik; do
  for mode in ctr open; do
    grep -Eq "^bitslice,$cipher,$mode,67108864,8,[0-9]+,$rate,$rate,$rate,[0-9.e-]+,[0-9.e-]+\$" "$work/keys" ||
      fail "keys: expected rates of $cipher, $mode, got: $(<"$work/keys")"
  done
done
