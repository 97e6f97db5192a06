#!/usr/bin/env bash
# An invalid chunk size is a usage error.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

for size in 0 0K -1 1X 1KK K 1.5M 0x10 1e3 '' 99999999999999999999 18446744073709551616 18014398509481984K \
  17592186044416M 17179869184G; do
  expect_exit 2 gs -b "$size"
done
for size in 0 1025M 2G; do
  expect_exit 2 gs --chunk-size=$size
  expect_error "size '$size' is out of range" \
    'use a whole number of bytes from 1 to 1G, optionally followed by K, M or G (powers of 1024)'
done
for size in -1 64KB 1MiB 1.5M; do
  expect_exit 2 gs "--chunk-size=$size"
  expect_error "invalid size '$size'" \
    'use a whole number of bytes from 1 to 1G, optionally followed by K, M or G (powers of 1024)'
done
