#!/usr/bin/env bash
# If the limits leave too little memory to derive a key from a passphrase, the error says how much is needed.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
if sanitized; then skip "sanitizers reserve address space themselves"; fi

umask 077
make_input 1000 plain
printf 'correct horse\n' >passphrase
# 128 MiB are too much, but anything else fits.
limited() { (ulimit -v 140000 && "$program" "$@"); }
limited -q -f raw --iv "$iv" -k "$key" -l cpu:1 -i plain -o out 2>"$work/stderr" || skip "the program needs more than 140000 KiB without a passphrase"
same <(reference <plain) out
expect_exit 1 limited --passphrase-file passphrase -l cpu:1 -i plain -o sealed
expect_stderr 'error: deriving a key from the passphrase requires 130 MiB of memory, but only [0-9]+ MiB is available$'
expect_files out passphrase plain
