#!/usr/bin/env bash
# A regular file as stdin is read from its offset, and left positioned after the bytes that were read.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 3000003 plain
for skipped in 1 1000 65536 3000000 3000003; do
  tail -c +$((skipped + 1)) plain | reference >expected
  cp plain input
  exec 3<input
  dd bs="$skipped" count=1 status=none <&3 >/dev/null
  expect_exit 0 gs -b 64K -l cpu:2 <&3
  same expected "$work/stdout" "from offset $skipped"
  printf 'the rest' >>input
  [ "$(cat <&3)" = 'the rest' ] || fail "expected stdin at the end of the file, at offset 3000003"
  exec 3<&-
done

# An offset beyond the end is not an error, and the input is empty.
exec 3<plain
perl -e 'open my $f, "<&=", 3 or die; sysseek $f, 4000000, 0 or die'
expect_exit 0 gs <&3
expect_empty "$work/stdout"

# Offsets beyond 32 bits.
truncate -s 5G large 2>/dev/null || skip "offsets beyond 32 bits: cannot create a file of 5 GiB"
head -c 1000000 plain >>large
for start in $((5 << 30)) $(((5 << 30) + 65536)); do
  exec 3<large
  perl -e 'open my $f, "<&=", 3 or die; sysseek $f, shift, 0 or die' "$start"
  head -c 1000000 plain | tail -c +$((start - (5 << 30) + 1)) | reference >expected
  expect_exit 0 gs -b 64K -l cpu:2 <&3
  same expected "$work/stdout" "from offset $start"
  exec 3<&-
done
