#!/usr/bin/env bash
# gpuaes-bench refuses unknown commands and invalid arguments, and gives the reason.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

[ -x "$bench" ] || fail "no gpuaes-bench next to $program"
try() { # STATUS WORD...
  local want=$1 got=0
  shift
  "$bench" "$@" >"$work/stdout" 2>"$work/stderr" </dev/null || got=$?
  [ "$got" = "$want" ] || fail "gpuaes-bench $*: expected exit status $want, got $got (stderr: $(<"$work/stderr"))"
  [ "$(grep -c '^gpuaes-bench: error: ' "$work/stderr" || true)" = $((want != 0)) ] ||
    fail "gpuaes-bench $*: expected an error message just with an error, got: $(<"$work/stderr")"
  if [ "$want" != 0 ]; then expect_empty "$work/stdout"; fi
}

for words in "" "stray" "-x" "copy" "copy 64K stray" "read" "read 2" "read 2 1M 3 stray" "memory 1 stray" \
  "device 1M stray" "transfer stray" "kernels stray" "keys stray" "limits stray" "limits --ciphers aes-128" "kernels --keys 128" "keys --sizes 4M" \
  "sweep stray" "sweep --modes ctr" "sweep --sizes 4M" "pipeline stray" "-h stray" "memory --csv --json" "memory --no-such" "memory --c" \
  "copy 64K --csv" "read 1 1M --json=x" "pipeline -l" "pipeline --bytes 1M --seconds 1" "pipeline -b 1M -b 2M"; do
  read -r -a list <<<"$words"
  try 2 "${list[@]}"
done
try 2
expect_stderr 'error: no command was given'
try 2 -x stray
expect_stderr "error: unknown command '-x'"
for size in 0 -1 1T 64k 2G "" " 1"; do
  try 2 copy "$size"
  try 2 read 1 "$size"
done
for count in 0 -1 4097 1K two "" " 1"; do
  try 2 read "$count" 1M
  try 2 memory "$count"
done
try 2 read 3 1M 2
expect_stderr 'fewer buffers than threads'

for lanes in "" auto none: none:0 none:x nothing cpu:0 "cpu," ",cpu" "cpu,,cpu" cuda:x; do try 2 pipeline -l "$lanes"; done
for sizes in "" 0 64k "1M," "1M,x" 2G; do try 2 pipeline -b "$sizes"; done
for formats in "" openssl cobblestone "raw,RAW"; do try 2 pipeline -f "$formats"; done
for list in "" "," "aes-256," AES-256 aes kuznyechik,gost; do
  try 2 memory --ciphers "$list" 1
  try 2 pipeline --ciphers "$list"
done
try 2 memory --ciphers gost
expect_stderr 'the ciphers are aes-128, aes-192, aes-256, kuznyechik'
for list in aes-128 kuznyechik,aes-192; do
  try 2 pipeline -f raw,sealed --ciphers "$list"
  expect_stderr 'sealed'
done
for kind in "" socket FILE; do try 2 pipeline --source "$kind"; done
for seconds in "" 0 -1 1s nan inf 1e1 3601; do try 2 pipeline --seconds "$seconds"; done
for size in "" 0 1T; do try 2 pipeline --bytes "$size"; done

for command in kernels keys sweep; do
  for list in "" "," "ctr," ",ctr"; do
    try 2 "$command" --ciphers "$list"
    try 2 "$command" --variants "$list"
  done
  for cipher in 128 aes AES-128 aes-128x aes-128,aes-512 "kuznyechik "; do
    try 2 "$command" --ciphers "$cipher"
    expect_stderr 'the ciphers are aes-128, aes-192, aes-256, kuznyechik'
  done
done
for command in kernels keys; do
  for list in "" "," "ctr," ",ctr"; do try 2 "$command" --modes "$list"; done
  for mode in CTR cbc gcm sea ctr,xts; do
    try 2 "$command" --modes "$mode"
    expect_stderr 'modes are ctr, seal, open, ecb-encrypt, ecb-decrypt'
  done
done
for sizes in "" 0 -1 1k 2G "1K," "1K,x"; do try 2 kernels --sizes "$sizes"; done
try 2 kernels --sizes 1K,100 --modes ctr,ecb
expect_stderr 'size 100 .*block size'
for copies in "" maybe no,YES; do try 2 kernels --copies "$copies"; done
for list in "" "," "read," in+ +out in++out copy in+copy READ; do try 2 transfer --steps "$list"; done
try 2 transfer --steps in+copy
expect_stderr "step 'copy' is not known"
expect_stderr 'steps are read, in and out'
for option in devices streams buffers; do
  for counts in "" 0 -1 two 4097 "1," 1+2; do try 2 transfer "--$option" "$counts"; done
done
for sizes in "" 0 1k 2G "1M,"; do try 2 transfer --sizes "$sizes"; done
for size in "" 0 64k 2G 1M,4M; do
  try 2 sweep --size "$size"
  expect_stderr "size '$size'"
done

# A program without CUDA has no kernels to list; a program with CUDA lists them even without a device.
got=0
"$bench" kernels --variants no-such >"$work/stdout" 2>"$work/stderr" </dev/null || got=$?
expect_empty "$work/stdout"
if grep -q 'built without CUDA' "$work/stderr"; then
  [ "$got" = 1 ] || fail "kernels without CUDA: expected exit status 1, got $got"
else
  [ "$got" = 2 ] || fail "kernels --variants no-such: expected exit status 2, got $got"
  expect_stderr "variant is named 'no-such'"
  expect_stderr 'bitslice, ttable, .*ttable4-shared.*ls-shared'
  try 2 keys --variants 'bitslice,no-such*'
  try 2 sweep --variants no-such
  try 2 kernels --variants 'sbox*' --modes aead
  try 2 kernels --variants bitslice --modes ecb
  try 2 kernels --variants 'sbox*' --ciphers kuznyechik
  try 2 kernels --variants ls-shared --ciphers aes-128,aes-256
  try 2 sweep --variants ls-shared
  expect_stderr 'none of these variants has one of these ciphers'
fi

for option in -h --help; do
  try 0 "$option"
  for command in copy read memory device transfer kernels keys sweep limits pipeline; do
    grep -q "^  $command " "$work/stdout" || fail "$option: expected $command in it"
  done
  for command in copy read memory device transfer kernels keys sweep limits pipeline; do
    try 0 "$command" "$option"
    grep -q "^usage: gpuaes-bench $command" "$work/stdout" || fail "$command $option: expected its usage"
  done
done
full() { "$bench" -h >/dev/full 2>"$work/stderr"; }
got=0
full || got=$?
[ "$got" = 1 ] || fail "-h to a full disk: expected exit status 1, got $got"
