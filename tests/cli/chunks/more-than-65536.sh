#!/usr/bin/env bash
# A stream may have more chunks than 16 bits can count.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input $((65536 * 16 + 37)) plain
reference <plain >expected
expect_exit 0 gs -b 16 -l cpu:2 <plain
same expected "$work/stdout"
