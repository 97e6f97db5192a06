#!/usr/bin/env bash
# Job files: only their owner can read them, they replace no file, and damaged or unknown ones are refused.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/parts.sh"

make_input 1000 plain
umask 000
plan job
umask 022
[ "$(stat -c %a job)" = 600 ] || fail "expected mode 600, got $(stat -c %a job)"
cp job before
expect_exit 1 "$parts" plan -k "$key" -o job
expect_error 'cannot open job: File exists' 'existing files are never overwritten; choose another name'
same before job
ln -s missing link
expect_exit 1 "$parts" plan -k "$key" -o link
expect_files before job link plain
rm link

# Secrets from standard input, which plan and list need for nothing else.
expect_exit 0 "$parts" plan -k - -o piped <"$key"
"$parts" seal --job piped --part 0/1 -i plain -o part
"$parts" join --job piped --ends ends part
expect_exit 0 "$parts" list -k - --ends ends <"$key"
expect_exit 0 "$parts" plan -k /dev/stdin -o piped2 <"$key"
rm piped piped2 part ends.head ends.index

seal() { "$parts" seal --job job --part 0/1 -i plain -o part; }
chmod 640 job
expect_exit 0 seal
expect_stderr '^gpuaes-parts: warning: job is readable by other users; run chmod 600 job$'
chmod 600 job
rm part

refused() { # status, error, hint
  expect_exit "$1" seal
  expect_error "part 0: $2" "${3:-}"
  cp before job
  [ ! -e part ] || fail "expected no part"
}
damaged='parts that were sealed with it can be joined only with an undamaged copy'
for at in 15 46 47 48 49 50 169 -1; do
  flip job "$at"
  refused 4 'the job file job is damaged' "$damaged"
done
head -c -1 before >job
refused 4 'the job file job is damaged' "$damaged"
printf x >>job
refused 4 'the job file job is damaged' "$damaged"
head -c 15 before >job
refused 4 'the job file job is damaged' "$damaged"
patch job 13 32
refused 1 'the job file job has a version other than 1' 'try a later version of gpuaes-stream'
patch job 13 3130
refused 1 'the job file job has a version other than 1' 'try a later version of gpuaes-stream'
flip job 0
refused 4 'job is not a job file' 'gpuaes-parts plan writes job files'
cp plain job
refused 4 'job is not a job file' 'gpuaes-parts plan writes job files'
: >job
refused 4 'job is not a job file' 'gpuaes-parts plan writes job files'
rm job
expect_exit 1 seal
expect_error 'part 0: --job: cannot open job: No such file or directory'

# Secrets, as for gpuaes-stream.
expect_exit 2 "$parts" plan -o new
expect_stderr 'no key or passphrase was given'
expect_exit 2 "$parts" plan -k "$work/key128" -o new
expect_stderr 'requires a key of 32 bytes'
expect_exit 2 "$parts" plan -k "$key" -c aes-128 -o new
expect_error 'aes-128 cannot be used in an authenticated format'
expect_exit 1 "$parts" plan -k missing -o new
[ ! -e new ] || fail "expected no job file"

"$keygen" --x25519 -o identity >recipient
(umask 077 && printf 'correct horse\n' >passphrase)
expect_exit 0 "$parts" plan -r "$(<recipient)" -o for-recipient
expect_exit 0 "$parts" plan -R recipient -k "$key" -o for-both
expect_stderr 'sealing for both a key and a recipient'
expect_exit 0 "$parts" plan --passphrase-file passphrase -k "$key" -o for-passphrase
expect_exit 0 "$parts" plan --passphrase-command 'cat passphrase' -o for-command
for case in 'for-recipient -k identity' 'for-both -k identity' "for-both -k $key" 'for-passphrase --passphrase-file passphrase' \
  "for-passphrase -k $key" 'for-command --passphrase-file passphrase'; do
  read -r name option secret <<<"$case"
  rm -f "$name.part"
  "$parts" seal --job "$name" --part 0/1 -i plain -o "$name.part"
  "$parts" join --job "$name" "$name.part" | "$program" -q -d "$option" "$secret" >out
  same plain out "$case"
done
