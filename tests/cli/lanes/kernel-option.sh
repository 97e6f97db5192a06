#!/usr/bin/env bash
# The output does not depend on the kernel that CUDA lanes use. An unknown kernel is a usage error.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 3000001 plain
reference <plain >expected
for lanes in $(lanes_here); do
  for kernel in bitslice ttable; do
    expect_exit 0 gs -i plain -o out -l "$lanes" --kernel "$kernel" -b 64K
    cmp out expected || fail "$lanes, $kernel: expected the same output as from openssl"
    expect_exit 0 gsealed -i plain -o sealed -l "$lanes" --kernel "$kernel" -b 64K
    expect_exit 0 gsealed -d -i sealed -o opened -l cpu
    cmp opened plain || fail "$lanes, $kernel: expected the plaintext"
  done
done

make_input 300001 plain # the reference lane is slow
kuznyechik() { "$program" -q -c kuznyechik -k "$key" -i plain "$@"; }
raw=(-f raw --iv 1234567890abcef0)
kuznyechik "${raw[@]}" -l reference >expected
for lanes in $(lanes_here); do
  for kernel in bitslice ttable; do
    expect_exit 0 kuznyechik "${raw[@]}" -o out -l "$lanes" --kernel "$kernel" -b 64K
    cmp out expected || fail "kuznyechik, $lanes, $kernel: expected the same output as from the reference lane"
    expect_exit 0 kuznyechik -o sealed -l "$lanes" --kernel "$kernel" -b 64K
    expect_exit 0 gsealed -d -i sealed -o opened -l cpu
    cmp opened plain || fail "kuznyechik, $lanes, $kernel: expected the plaintext, opened on the CPU"
    expect_exit 0 gsealed -d -i sealed -o opened -l "$lanes" --kernel "$kernel" -b 64K
    cmp opened plain || fail "kuznyechik, $lanes, $kernel: expected the plaintext"
  done
done

for kernel in '' foo Bitslice 'bitslice,ttable' 1; do
  expect_exit 2 gs -i plain --kernel "$kernel"
done
expect_exit 2 gs -i plain --kernel foo
expect_error "unknown kernel 'foo'" 'the kernels are bitslice, ttable'
expect_exit 2 gs -i plain --kernel
