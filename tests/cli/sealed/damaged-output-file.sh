#!/usr/bin/env bash
# If decryption finds damage, -o creates no file, and an existing file stays unchanged.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 100000 plain
gsealed -e <plain >sealed
printf 'old' >old
perl -pe 'BEGIN { undef $/ } substr($_, 60000, 1) ^= "\1"' sealed >damaged
perl -pe 'BEGIN { undef $/ } substr($_, 100, 1) ^= "\1"' sealed >damaged-header
head -c 60000 sealed >truncated
head -c $((175 + 3 * 16400)) sealed >truncated-at-segment
cat sealed sealed >joined
for input in damaged damaged-header truncated truncated-at-segment joined plain /dev/null; do
  for out in new old; do
    for size in 16K 1M; do
      expect_exit 4 gsealed -d -i "$input" -o "$out" -b "$size"
      expect_empty "$work/stdout"
      expect_exit 4 gsealed -d -o "$out" -b "$size" <"$input"
    done
  done
done
expect_files sealed damaged damaged-header truncated truncated-at-segment joined plain old
[ "$(<old)" = old ] || fail "expected the old content"
expect_exit 0 gsealed -d -i sealed -o old
same plain old
