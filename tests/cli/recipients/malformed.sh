#!/usr/bin/env bash
# A recipient or an identity that is mistyped, cut or something else altogether is a usage error that says so, before
# anything is read or written; an identity is never shown.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

umask 077
"$keygen" --x25519 -o identity >recipient
recipient=$(<recipient)
identity=$(head -n 1 identity)
age=age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p
make_input 1000 plain
"$program" -r "$recipient" <plain >sealed

secretive() { # nothing of the identity, however cut, was said
  local said
  said=$(<"$work/stderr")
  if [[ ${said^^} == *SECRET-KEY-1[A-Z0-9]* || ${said^^} == *"${identity:20:12}"* ]]; then fail "expected no identity to be shown, got: $said"; fi
}
refused() { # REGEX RECIPIENT
  expect_exit 2 "$program" -r "$2" -i plain -o out
  expect_stderr "$1"
  secretive
  [ ! -e out ] || fail "expected no output"
}
swap() { # TEXT AT: another character there
  local c=q
  [ "${1:$2:1}" != q ] || c=p
  printf '%s%s%s' "${1:0:$2}" "$c" "${1:$2+1}"
}

for at in 7 20 58 64; do refused 'checksum is wrong' "$(swap "$recipient" $at)"; done
refused 'characters instead of 65' "${recipient:0:64}"
refused 'characters instead of 65' "${recipient:0:7}"
refused 'characters instead of 65' "${recipient}q"
refused 'characters instead of 65' "$recipient $recipient"
refused 'uppercase and lowercase letters' "G${recipient:1}"
refused 'character that none' "${recipient:0:40}b${recipient:41}"
refused 'does not begin with gpuaes1' "${recipient:1}"
refused 'does not begin with gpuaes1' "gpuaes2${recipient:7}"
refused 'does not begin with gpuaes1' ''
refused 'does not begin with gpuaes1' 'nobody'
refused 'does not begin with gpuaes1' "${key_hex[256]}"
refused 'is a recipient of age' "$age"
refused 'is an identity' "$identity"
refused 'is an identity' "${identity,,}"
refused 'is an identity' "${identity:0:50}"
refused 'recipient is a file' recipient
expect_stderr '-r @FILE'
refused 'identity is a file' identity
expect_exit 2 "$program" -k "$key" -r nobody -i plain -o out
expect_exit 2 "$program" -r "$recipient" -r nobody -i plain -o out

# In a file, with the number of its line.
list() { printf '%s\n' "$@" >list; }
list '# all of us' "$recipient" '' "${recipient:0:50}"
refused 'line 4 of list .*50 characters' @list
list "$recipient" "$(swap "$recipient" 30)" "$recipient"
refused 'line 2 of list .*checksum' @list
list "$recipient $recipient"
refused 'line 1 of list' @list
list "$identity"
refused 'line 1 of list is an identity' @list
list "$age"
refused 'line 1 of list is a recipient of age' @list
list '' '# nobody' ' '
refused 'list contains no recipients' @list
: >list
refused 'list contains no recipients' @list
head -c 2000000 /dev/zero | tr '\0' '#' >list
refused 'more than' @list
refused 'more than' @/dev/zero
expect_exit 1 "$program" -r @missing -i plain -o out
expect_exit 1 "$program" -r @ -i plain -o out
expect_exit 1 "$program" -r @. -i plain -o out

# Keys with which everybody shares the same, and those that are no key.
perl -e '
  @c = split //, "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
  sub state { my $s = 1; for (@_) { my $b = $s >> 25; $s = (($s & 0x1ffffff) << 5) ^ $_;
    my $i = 0; for my $g (0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3) { $s ^= $g if $b >> $i++ & 1 } } $s }
  for my $hex (@ARGV) {
    my $bits = unpack("B*", pack "H*", $hex) . "0000";
    my @v = map oct "0b$_", $bits =~ /.{5}/g;
    my @p = map ord, split //, "gpuaes";
    my $check = state((map $_ >> 5, @p), 0, (map $_ & 31, @p), @v, (0) x 6) ^ 1;
    print "gpuaes1", (map $c[$_], @v, map $check >> 5 * $_ & 31, reverse 0 .. 5), "\n";
  }' "$(printf '00%.0s' {1..32})" "01$(printf '00%.0s' {1..31})" "ec$(printf 'ff%.0s' {1..30})7f" \
  "ed$(printf 'ff%.0s' {1..30})7f" "$(printf 'ff%.0s' {1..32})" >odd
mapfile -t odd <odd
for i in 0 1 2; do refused 'everybody shares' "${odd[i]}"; done
for i in 3 4; do refused 'too large' "${odd[i]}"; done

# Identities: in a file, whose name is said, and never in place of it.
bad() { # REGEX LINE...: in a file
  printf '%s\n' "${@:2}" >bad
  expect_exit 2 "$program" -d -k bad -i sealed -o out
  expect_stderr "$1"
  expect_stderr '\bbad\b'
  secretive
}
bad 'checksum is wrong' "$(swap "$identity" 30 | tr "[:lower:]" "[:upper:]")"
bad 'characters instead of 77' "${identity:0:60}"
bad 'characters instead of 77' "${identity}Q"
bad 'characters instead of 77' "$identity$identity"
bad 'uppercase and lowercase letters' "gpuaes${identity:6}"
bad 'character that none' "${identity:0:40}B${identity:41}"
bad 'line 2 of bad' "$identity" "$identity"
bad 'line 4 of bad' "$identity" '# mine' '' 'and more'
bad 'has a recipient' "$recipient"
bad 'identity of age' AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX
bad 'bad' '# recipient first' "$identity"
bad 'bad' " $identity"
for option in -k --passphrase-file; do
  expect_exit 2 "$program" -d $option "$identity" -i sealed -o out
  expect_stderr 'in place|where the name'
  secretive
done
expect_exit 2 "$program" -d -k "${identity,,}" -i sealed -o out
secretive
expect_exit 2 "$program" -k "$recipient" -i plain -o out
expect_stderr 'hint: -r takes'
[ ! -e out ] || fail "expected no output"
