#!/usr/bin/env bash
# --salvage still fails for wrong keys, damaged headers and commitments, and outputs that fail. Unsuitable combinations
# of options are usage errors.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

salvage() { gsealed --salvage "$@"; }
spoil() { perl -pe 'BEGIN { undef $/ } substr($_, '"$1"', 1) ^= "\1"' "$2"; }
make_input 100000 plain
gsealed -e -i plain -o sealed
spoil 60000 sealed >damaged
printf 'old' >old

# Undamaged: like decryption.
expect_exit 0 salvage -i sealed
same plain "$work/stdout"
expect_empty "$work/stderr"
expect_exit 0 salvage -d -i sealed -o out
same plain out
rm out

# Damaged: -o is kept, even if it replaces a file, and --stats is written; with -q no ranges are listed.
cp old kept
expect_exit 4 salvage -i damaged -o kept --stats figures
expect_stderr 'error: damaged: the input is corrupt; 16384 bytes of plaintext in 1 range are lost'
expect_no_stderr 'warning'
[ "$(stat -c %s kept)" = 100000 ] || fail "expected the whole length, got $(stat -c %s kept)"
grep -q '"bytes_out": 100000,' figures || fail "expected statistics of the whole file, got: $(<figures)"
! cmp -s plain kept || fail "expected zeros in the output"
expect_exit 4 "$program" --salvage -k "$key" -i damaged -o kept
expect_stderr 'warning: damaged: the input is corrupt at byte 49375; plaintext range 49152:16384 is lost'
rm kept figures

# --test only lists the damage.
expect_exit 4 "$program" --salvage --test -k "$key" -i damaged
expect_empty "$work/stdout"
expect_stderr 'range 49152:16384 is lost'
expect_exit 0 "$program" --salvage --test -k "$key" -i sealed

# Without the right key or with a damaged header nothing can be recovered.
(umask 077 && printf '%064d' 1 >wrong)
expect_exit 3 "$program" --salvage -k wrong -i damaged -o old
expect_empty "$work/stdout"
for at in 10 17 30 150; do # magic, slots, slot, commitment
  spoil "$at" sealed >header
  status=0
  gsealed -d -i header >/dev/null 2>&1 || status=$?
  [ "$status" -gt 0 ] || fail "expected damage at byte $at to matter"
  expect_exit "$status" salvage -i header -o old
  expect_empty "$work/stdout"
done
tail -c +120 sealed >bare
expect_exit 3 salvage -f cobblestone -i bare -o old
head -c 174 sealed >header
expect_exit 4 salvage -i header -o old

# The output is not kept if writing fails, a signal ends the run, or the input cannot be read to its end.
expect_exit 1 salvage -i damaged -o /dev/full
mkfifo fifo
"$program" -q -k "$key" --salvage -o old <fifo &
pid=$!
exec 3>fifo
head -c 50000 damaged >&3
sleep 0.3
kill "$pid"
status=0
wait "$pid" || status=$?
exec 3>&-
[ "$status" = 143 ] || fail "expected death by SIGTERM, got $status"
[ "$(<old)" = old ] || fail "expected the old content"
expect_exit 1 salvage -i .

# Lost ranges are reported even if --stats cannot be written.
expect_exit 4 "$program" --salvage -k "$key" -i damaged -o found --stats /dev/full
expect_stderr 'warning: cannot write /dev/full'
expect_stderr 'error: damaged: the input is corrupt; .* are lost'
expect_exit 4 salvage -i damaged -o found --trace /dev/full
expect_stderr 'error: damaged: the input is corrupt; .* are lost'
rm found

# Options that cannot be combined with --salvage.
expect_exit 2 salvage -e -i sealed
expect_exit 2 salvage --range 0:1 -i sealed
expect_exit 2 "$program" --salvage --info -i sealed
expect_exit 2 gs --salvage -i sealed
expect_stderr 'raw format is not authenticated, so --salvage cannot verify anything'
(umask 077 && echo words >words)
"$program" -q -f openssl --passphrase-file words -i plain -o openssl
expect_exit 2 "$program" --salvage -f openssl --passphrase-file words -i openssl
rm bare header wrong words fifo openssl
expect_files plain sealed damaged old
