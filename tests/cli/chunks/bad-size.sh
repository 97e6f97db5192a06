#!/usr/bin/env bash
# An invalid chunk size is a usage error.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

for size in 0 0K -1 1X 1KK K 1.5M 0x10 1e3 '' 99999999999999999999 18446744073709551616 18014398509481984K \
  17592186044416M 17179869184G; do
  expect_exit 2 gs -b "$size"
done
expect_exit 2 gs --chunk-size=0
expect_error "invalid size '0'" \
  'use a number of bytes from 1 to 1G, optionally followed by K, M or G (powers of 1024)'
