#!/usr/bin/env bash
# file(1) recognizes files of the program, identities and recipients with man/magic, and nothing else.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need file

shows() { # FILE TEXT
  local got
  got=$(file -b -m "$top/man/magic" "$1")
  [ "$got" = "$2" ] || fail "$1: expected '$2', got '$got'"
}

make_input 50000 plain
printf 'pass phrase\n' >pass
"$keygen" --x25519 -o identity >recipient
(echo '# mine' && cat identity) >commented
gsealed <plain >sealed
shows sealed 'gpuaes-stream sealed file, version 1, AES-256-GCM, sealed with a key file'
"$program" -q --passphrase-file pass -c kuznyechik <plain >sealed
shows sealed 'gpuaes-stream sealed file, version 1, Kuznyechik-MGM, sealed with a passphrase'
"$program" -r @recipient <plain >sealed
shows sealed 'gpuaes-stream sealed file, version 1, AES-256-GCM, sealed for a recipient'
printf 'gpuaes-stream/1\n\x01\x01\x04\x93\x04' >pq-sealed
shows pq-sealed 'gpuaes-stream sealed file, version 1, AES-256-GCM, sealed for a post-quantum recipient'
gsealed -r @recipient <plain >sealed
shows sealed 'gpuaes-stream sealed file, version 1, AES-256-GCM, 2 key slots'
[ "$(file -b -m "$top/man/magic" --mime-type sealed)" = application/x-gpuaes-stream ] || fail "expected a MIME type"
printf 'gpuaes-stream/1\n\x03\x02' >parts
shows parts 'gpuaes-stream sealed file, version 1, AES-256-GCM, in parts, 2 key slots'
printf 'gpuaes-stream/1\n\x04\x02' >parts
shows parts 'gpuaes-stream sealed file, version 1, Kuznyechik-MGM, in parts, 2 key slots'
printf 'gpuaes-parts/1\n\x01\x02' >job
shows job 'gpuaes-parts job file (secret key), version 1'
printf 'gpuaes-parts/2\n\x01\x02' >job
shows job 'gpuaes-parts job file (secret key), unknown version'
printf 'gpuaes-stream/1\n\x07\x02' >later
shows later 'gpuaes-stream sealed file, version 1, unknown suite 0x07, 2 key slots'
printf 'gpuaes-stream/2\n\x01\x02' >later
shows later 'gpuaes-stream sealed file, unknown version'
gsealed -a <plain >text
shows text 'gpuaes-stream sealed file, armored'
for file in identity commented; do shows "$file" 'gpuaes-stream identity (secret key), ASCII text'; done
shows recipient 'gpuaes-stream recipient (public key), ASCII text'
printf '# mine\nGPUAES-SECRET-KEY-PQ-1%058d\n# recipient: gpuaespq1%01952d\n' 0 0 >pq-identity
shows pq-identity 'gpuaes-stream identity (secret key), ASCII text, with very long lines (1974)'
printf 'gpuaespq1%01952d\n' 0 >pq-recipient
shows pq-recipient 'gpuaes-stream recipient (public key), ASCII text, with very long lines (1961)'

"$keygen" -o key
printf 'gpuaes1, gpuaes-stream/1 and GPUAES-SECRET-KEY-1 are prefixes\n' >prose
for file in key prose "$top/man/magic"; do shows "$file" 'ASCII text'; done
openssl enc -aes-256-ctr -K "${key_hex[256]}" -iv "$iv" <plain >random
shows random data
