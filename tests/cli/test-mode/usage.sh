#!/usr/bin/env bash
# --test cannot be combined with encryption, an output, or a format that authenticates nothing.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000 plain
(umask 077 && echo words >words)
"$program" -q -f openssl --passphrase-file words -i plain -o openssl
gsealed -e <plain >sealed

expect_exit 2 gsealed --test -e -i sealed
expect_stderr 'test.*encrypt'
expect_exit 2 gsealed --test -o out -i sealed
expect_stderr 'test.*output'
expect_exit 2 "$program" --test -f openssl --passphrase-file words -i openssl
expect_stderr 'openssl format is not authenticated, so --test cannot verify anything'
expect_exit 2 gs --test -i plain
expect_error 'the raw format is not authenticated, so --test cannot verify anything' 'authenticated formats: sealed, cobblestone'
expect_exit 2 "$program" --test -i sealed
expect_error 'sealed: the input was sealed with a key file, and none was given' 'name the key file with -k'
expect_exit 4 gsealed --test -i plain
expect_files plain words openssl sealed
