#!/usr/bin/env bash
# Decryption of another program's file fails with status 4 and says what the file is. No hint suggests -f raw.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

umask 077
make_input 30000 plain
"$keygen" --x25519 -o identity 2>/dev/null >recipient

# foreign NAME HINT FILE: every mode that reads the file says that it is NAME.
foreign() {
  local error="this is $1, not a gpuaes-stream one" options
  for options in -d '-d -f sealed' '-d -f openssl' --test --salvage '--range 0:1' "--rekey --new-key $key"; do
    local secret=(-k "$key")
    [[ $options != *openssl ]] || secret=(--passphrase-file recipient)
    # shellcheck disable=SC2086 # several words
    expect_exit 4 "$program" -q $options "${secret[@]}" -i "$3"
    expect_error "$3: $error" "$2"
    expect_empty "$work/stdout"
  done
  expect_exit 4 "$program" --info -i "$3"
  expect_error "$3: $error" "$2"
  # shellcheck disable=SC2002 # the input must be a pipe
  piped() { cat "$3" | gsealed -d; }
  expect_exit 4 piped "$@"
  expect_error "$error" "$2"
}

# make FILE COMMAND...: makes the file, if the command is installed.
make() {
  local file=$1
  shift
  if ! command -v "$1" >/dev/null; then
    skip_part "$1 is not installed"
    return 1
  fi
  "$@" <plain >"$file" 2>"$work/make" || fail "cannot make $file: $(<"$work/make")"
}
compressed='it is compressed, not encrypted'
if make gz gzip; then foreign 'a gzip file' "$compressed" gz; fi
if make bz2 bzip2; then foreign 'a bzip2 file' "$compressed" bz2; fi
if make zst zstd -q; then foreign 'a zstd file' "$compressed" zst; fi
if make xz xz; then foreign 'an xz file' "$compressed" xz; fi
if make lz4 lz4 -q; then foreign 'an lz4 file' "$compressed" lz4; fi
if make zip zip -q; then foreign 'a zip file' 'unpack it with unzip' zip; fi
if make tar tar -c plain; then foreign 'a tar archive' 'it is not encrypted' tar; fi
for armor in '' -a; do
  if make age age $armor -r age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p; then
    foreign 'an age file' 'decrypt it with age' age
  fi
  mkdir -p "$work/gnupg"
  if make gpg gpg --homedir "$work/gnupg" --batch --pinentry-mode loopback --passphrase x $armor -c; then
    foreign 'an OpenPGP file' 'decrypt it with gpg' gpg
  fi
done
if command -v gpgconf >/dev/null; then gpgconf --homedir "$work/gnupg" --kill gpg-agent; fi
{ printf '7z\274\257\047\034' && cat plain; } >7z
foreign 'a 7z file' 'unpack it with 7z' 7z
{ printf 'LUKS\272\276\000\002' && cat plain; } >luks
foreign 'a LUKS volume' 'open it with cryptsetup' luks

# An identity file instead of the input.
for mode in -d --test "--rekey --new-key $key"; do
  # shellcheck disable=SC2086 # several words
  expect_exit 4 gsealed $mode -i identity
  expect_error 'identity: the input contains an identity, not an encrypted file' 'name the identity file with -k'
done

# Input in a format that was not named.
expect_exit 4 gsealed -d -f sealed < <("$program" -q -f openssl --passphrase-file recipient <plain)
expect_error 'the input appears to be in the openssl format, which is not authenticated and must be named' \
  'use -d -f openssl to decrypt it; modifications will go undetected'

# A file is recognized as soon as its magic has arrived.
mkfifo fifo
exec 5<>fifo
printf 'age-encryption.org/v1\n' >&5
expect_exit 4 timeout 60 "$program" -d -k "$key" -i fifo
expect_error 'fifo: this is an age file, not a gpuaes-stream one' 'decrypt it with age'
exec 5>&-

# Encryption takes any input.
for file in gz age identity; do
  [ -e "$file" ] || continue
  expect_exit 0 gsealed -i "$file" -o sealed
  expect_exit 0 gsealed -d -i sealed
  same "$file" "$work/stdout"
done
