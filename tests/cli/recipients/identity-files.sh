#!/usr/bin/env bash
# An identity file may hold several identities and comments, and each of them opens what was sealed for it. A raw key is
# a key even if it begins like a comment. Files of recipients, which are public, cause no warning about access.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

umask 077
for i in 1 2 3 4; do "$keygen" --x25519 -o "identity$i" >"recipient$i"; done
make_input 20000 plain
{ printf '# created: today\n\n' && cat identity1 && printf ' \t\r\n# the next one\r\n' && head -n 1 identity2 &&
  printf '   ' && head -n 1 identity3; } >several
for i in 1 2 3 4; do gsealed -r "@recipient$i" <plain >"sealed$i"; done
for i in 1 2 3; do
  expect_exit 0 "$program" -d -k several -i "sealed$i"
  expect_empty "$work/stderr"
  same plain "$work/stdout" "identity $i"
done
expect_exit 3 "$program" -d -k several -i sealed4
expect_error 'sealed4: none of the given identities opens the input' \
  'the input was sealed with other secrets, or its header is damaged; --info lists its slots'
expect_exit 0 "$program" -d -k several -k identity4 -i sealed4
same plain "$work/stdout"

# More than a page, and from a pipe.
{ for ((i = 0; i < 50; i++)); do cat identity1; done && cat identity4; } >many
expect_exit 0 "$program" -d -k many -i sealed4
same plain "$work/stdout"
expect_exit 0 "$program" -d -k <(cat many) -i sealed4
same plain "$work/stdout"
expect_exit 0 "$program" --rekey -k many --new-key "$key" -i sealed4
expect_exit 0 gsealed -d -i sealed4
same plain "$work/stdout"

for begin in '#' '# a\n' '\n' '##GPUAES-SECRET-KEY-1' '\n\n#\n\n'; do
  { printf '%b' "$begin" && cat "$key"; } | head -c 32 >raw
  [ "$(wc -c <raw)" = 32 ] || fail "expected 32 bytes"
  gsealed -k raw <plain >sealed
  expect_exit 0 "$program" -d -k raw -i sealed
  same plain "$work/stdout" "a key that begins with $begin"
done

# The error about a file of recipients is not preceded by a warning; an identity among them must not be public.
{ echo '# all of us' && cat recipient1 recipient2; } >list
chmod 644 list several
expect_exit 2 "$program" -d -k list -i sealed1
expect_error '--key: list contains a recipient, not a key' \
  'use -r @FILE to seal for the recipients in a file; to decrypt, name an identity file with -k'
expect_no_stderr warning
expect_exit 0 "$program" -r @list -i plain -o sealed-for-list
expect_empty "$work/stderr"
expect_exit 0 "$program" -d -k several -i sealed-for-list
same plain "$work/stdout"
expect_stderr '^gpuaes-stream: warning: several is readable by other users; run chmod 600 several$'
