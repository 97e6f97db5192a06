#!/usr/bin/env bash
# An error about the input contains its name and the byte offset, one about a key contains the name of its file, and one
# about reading or writing contains the offset. A hint follows if the user can do something.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

# change FILE OFFSET: flips one bit of that byte.
change() { perl -e 'open F, "+<", $ARGV[0] or die; seek F, $ARGV[1], 0; read F, $b, 1; seek F, -1, 1;
  print F chr(1 ^ ord $b)' "$1" "$2"; }

make_input 60000 plain
gsealed <plain >whole
cp whole bad
change bad $((175 + 2 * 16400 + 5))
head -c $((175 + 16400)) whole >short
damage='the input is corrupt at byte 32975; 32768 bytes of plaintext before that were verified'
salvage='use --salvage to recover the undamaged parts'

# Damaged segments.
expect_exit 4 gsealed -d -i bad
expect_error "bad: $damage" "$salvage"
from_stdin() { gsealed -d <"$1"; }
expect_exit 4 from_stdin bad
expect_error "$damage" "$salvage"
expect_exit 4 gsealed --test -i bad
expect_error "bad: $damage"
expect_exit 4 gsealed --salvage -i bad
expect_error 'bad: the input is corrupt; 16384 bytes of plaintext in 1 range are lost'
expect_exit 4 gsealed --range 40000:1 -i bad
expect_error 'bad: the input is corrupt at byte 32975; 0 bytes of plaintext before that were verified' "$salvage"
expect_exit 4 gsealed -d -i short
expect_error 'short: the input is truncated after byte 16575; 16384 bytes of plaintext before that were verified' "$salvage"
expect_exit 4 gsealed --range 0:1 -i short
expect_error 'short: the input is truncated after byte 16575; 0 bytes of plaintext before that were verified' "$salvage"
expect_exit 4 gsealed --salvage -i short
expect_error 'short: the input is truncated after byte 16575; 16384 bytes of plaintext before that were verified; nothing after that was recovered'

# Headers: nothing to salvage.
head -c 100 whole >cut-head
for mode in -d --test --salvage --rekey --info; do
  options=(-q -k "$key" "$mode")
  hint=
  [ "$mode" = --salvage ] && hint='if the header is damaged, put back a copy of it (gpuaes-recipes(7))'
  [ "$mode" = --info ] && options=(--info)
  [ "$mode" = --rekey ] && options+=(--new-key "$work/key256")
  expect_exit 4 "$program" "${options[@]}" -i cut-head
  expect_error 'cut-head: the input is truncated after byte 100, in its header; nothing was written' "$hint"
  expect_exit 4 "$program" "${options[@]}" -i plain
  expect_stderr 'error: plain: the input is '
done
expect_exit 4 from_stdin cut-head
expect_error 'the input is truncated after byte 100, in its header; nothing was written'
perl -pe 's,^gpuaes-stream/1,gpuaes-stream/2,' whole >later
expect_exit 1 gsealed -d -f sealed -i later
expect_error 'later: the input uses a version of the sealed format other than 1' 'try a later version of gpuaes-stream'

# Keys.
(umask 077 && tail -c 32 plain >other && head -c 16 plain >half)
expect_exit 3 "$program" -d -k other -i whole
expect_error 'whole: none of the given keys opens the input' \
  'the input was sealed with other secrets, or its header is damaged; --info lists its slots'
expect_exit 2 "$program" -k half -i plain
expect_error 'the sealed format requires a key of 32 bytes; the key in half is 16 bytes long'
expect_exit 2 "$program" -k other -k half -i plain
expect_error 'the sealed format requires a key of 32 bytes; the key in half is 16 bytes long'
expect_exit 2 "$program" -f raw -c aes-256 --iv "$iv" -k half -i plain
expect_error 'aes-256 requires a key of 32 bytes; the key in half is 16 bytes long'
expect_exit 2 "$program" --rekey -k "$key" --new-key half -i whole
expect_error 'the sealed format requires a key of 32 bytes; the key in half is 16 bytes long'

# Reading and writing.
expect_exit 1 gs -i /proc/self/mem
expect_error 'cannot read /proc/self/mem at byte 0: Input/output error'
if [ -c /dev/full ]; then
  expect_exit 1 gs -i plain -o /dev/full
  expect_error 'cannot write /dev/full after byte 0: No space left on device' 'free some space, or write to another file system'
fi
limited() { (ulimit -f 20 && gsealed -o out -b 16K <plain); }
expect_exit 1 limited
expect_error 'cannot write out after byte 20480: File too large' "the file system or ulimit -f does not allow larger files"
