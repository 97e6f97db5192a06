#!/usr/bin/env bash
# A malformed recipient or identity is a usage error that names the problem, before anything is read or written.
# Messages never show an identity.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

umask 077
"$keygen" --x25519 -o identity >recipient
recipient=$(<recipient)
identity=$(head -n 1 identity)
age=age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p
make_input 1000 plain
"$program" -r "$recipient" <plain >sealed

secretive() { # messages show no part of the identity
  local messages
  messages=$(<"$work/stderr")
  if [[ ${messages^^} == *SECRET-KEY-1[A-Z0-9]* || ${messages^^} == *"${identity:20:12}"* ]]; then
    fail "expected no part of the identity, got: $messages"
  fi
}
refused() { # REGEX RECIPIENT
  expect_exit 2 "$program" -r "$2" -i plain -o out
  expect_stderr "$1"
  secretive
  [ ! -e out ] || fail "expected no output"
}
swap() { # TEXT AT: the text with another character at that index
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
refused 'an invalid character' "${recipient:0:40}b${recipient:41}"
refused 'does not begin with gpuaes1' "${recipient:1}"
refused 'does not begin with gpuaes1' "gpuaes2${recipient:7}"
refused 'does not begin with gpuaes1' ''
refused 'does not begin with gpuaes1' 'alice'
expect_error 'the argument of --recipient is not a recipient: it does not begin with gpuaes1 or gpuaespq1' \
  'a recipient is the line that gpuaes-keygen -y prints for an identity'
refused 'does not begin with gpuaes1' "${key_hex[256]}"
refused 'is an age recipient' "$age"
expect_error 'the argument of --recipient is an age recipient, which is not supported' \
  'run gpuaes-keygen --x25519 to make an identity and print its recipient'
refused 'is a secret identity' "$identity"
expect_error 'the argument of --recipient is a secret identity, not a recipient' \
  'a recipient is the line that gpuaes-keygen -y prints for an identity'
refused 'is a secret identity' "${identity,,}"
refused 'is a secret identity' "${identity:0:50}"
refused 'recipient is the name of a file' recipient
expect_error '-r recipient is the name of a file, not a recipient' 'use -r @FILE to seal for the recipients in a file'
refused 'identity is the name of a file' identity
expect_exit 2 "$program" -k "$key" -r alice -i plain -o out
expect_exit 2 "$program" -r "$recipient" -r alice -i plain -o out

# In a file: messages include the line number.
list() { printf '%s\n' "$@" >list; }
list '# all of us' "$recipient" '' "${recipient:0:50}"
refused 'line 4 of list .*50 characters' @list
list "$recipient" "$(swap "$recipient" 30)" "$recipient"
refused 'line 2 of list .*checksum' @list
list "$recipient $recipient"
refused 'line 1 of list' @list
list "$identity"
refused 'line 1 of list is a secret identity' @list
list "$age"
refused 'line 1 of list is an age recipient' @list
list '# mine' AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX
refused 'line 2 of list is a secret identity' @list
list '' '# empty' ' '
refused 'list contains no recipients' @list
: >list
refused 'list contains no recipients' @list
head -c 2000000 /dev/zero | tr '\0' '#' >list
refused 'list is longer than 1048576 bytes, which is too long for a file of keys or recipients' @list
refused 'is longer than' @/dev/zero
expect_exit 1 "$program" -r @missing -i plain -o out
expect_error 'the recipients file: cannot open missing: No such file or directory'
expect_exit 1 "$program" -r @ -i plain -o out
expect_exit 1 "$program" -r @. -i plain -o out

# Keys whose shared secret is always zero, and numbers that are not keys.
perl -e '
  @c = split //, "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
  sub state { my $s = 1; for (@_) { my $b = $s >> 25; $s = (($s & 0x1ffffff) << 5) ^ $_;
    my $i = 0; for my $g (0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3) { $s ^= $g if $b >> $i++ & 1 } } $s }
  for my $argument (@ARGV) {
    my ($hex, $unused) = split /:/, $argument;
    my $bits = unpack("B*", pack "H*", $hex) . ($unused // "0000");
    my @v = map oct "0b$_", $bits =~ /.{5}/g;
    my @p = map ord, split //, "gpuaes";
    my $check = state((map $_ >> 5, @p), 0, (map $_ & 31, @p), @v, (0) x 6) ^ 1;
    print "gpuaes1", (map $c[$_], @v, map $check >> 5 * $_ & 31, reverse 0 .. 5), "\n";
  }' "$(printf '00%.0s' {1..32})" "01$(printf '00%.0s' {1..31})" "ec$(printf 'ff%.0s' {1..30})7f" \
  "ed$(printf 'ff%.0s' {1..30})7f" "$(printf 'ff%.0s' {1..32})" "$(printf '09%.0s' {1..32}):0100" >odd
mapfile -t odd <odd
for i in 0 1 2; do
  refused 'low-order X25519 point' "${odd[i]}"
  expect_error "recipient ${odd[i]} contains a low-order X25519 point" \
    'a file that is sealed for it is not protected by X25519; ask for another recipient'
done
for i in 3 4; do refused 'is not a valid recipient: it is not the canonical form of a public key' "${odd[i]}"; done
refused 'is not a valid recipient: its unused bits are not zero' "${odd[5]}"

# An identity is given in a file, never in place of the file's name. Messages name the file.
bad() { # REGEX LINE...: a file with these lines is refused
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
bad 'an invalid character' "${identity:0:40}B${identity:41}"
bad 'line 2 of bad is not a valid identity: it has 60 characters' "$identity" "${identity:0:60}"
bad 'line 4 of bad is not an identity' "$identity" '# mine' '' 'and more'
expect_error '--key: line 4 of bad is not an identity' \
  'an identity is the first line of the file that gpuaes-keygen --x25519 or --post-quantum writes'
bad 'line 3 of bad' '# mine' "$identity" "$recipient"
expect_error '--key: line 3 of bad is a recipient, not an identity' 'put recipients in a file of their own'
for comment in '' '# recipients'; do
  bad 'contains a recipient' "$comment" "$recipient" "$identity"
  expect_error '--key: bad contains a recipient, not a key' \
    'use -r @FILE to seal for the recipients in a file; to decrypt, name an identity file with -k'
done
age_file=('# created: 2026-11-22T10:00:00Z' "# public key: $age"
  AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX)
bad 'contains an age identity, which is not supported' "${age_file[2]}"
bad 'contains an age identity, which is not supported' "${age_file[@]}"
expect_error '--key: bad contains an age identity, which is not supported' 'run gpuaes-keygen --x25519 to make an identity'
bad 'contains an age identity, which is not supported' "$identity" "${age_file[@]}"
expect_exit 2 "$program" -k bad -i plain -o out
expect_error '--key: bad contains an age identity, which is not supported' 'run gpuaes-keygen --x25519 to make an identity'
bad 'invalid length' '# nothing'
expect_exit 2 "$program" -d -k "${age_file[2]}" -i sealed -o out
expect_error '--key: an identity was given instead of the name of its file' \
  'other users may have seen this command line; make a new identity with gpuaes-keygen --x25519 or --post-quantum'
head -c 2000000 /dev/zero | tr '\0' '#' >bad
expect_exit 2 "$program" -d -k bad -i sealed -o out
expect_error '--key: bad is longer than 1048576 bytes, which is too long for a file of keys or recipients'
for option in --key --passphrase-file; do
  expect_exit 2 "$program" -d $option "$identity" -i sealed -o out
  expect_error "$option: an identity was given instead of the name of its file" \
    'other users may have seen this command line; make a new identity with gpuaes-keygen --x25519 or --post-quantum'
  secretive
done
expect_exit 2 "$program" -d -k "${identity,,}" -i sealed -o out
secretive
expect_exit 2 "$program" -k "$recipient" -i plain -o out
expect_error '--key: a recipient was given instead of a file name' \
  'use gpuaes-stream -r for recipients; keys and identities are read from files'
[ ! -e out ] || fail "expected no output"
