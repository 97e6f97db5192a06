#!/usr/bin/env bash
# A key or identity given instead of the name of its file, or a key in the form that openssl takes, does not appear in
# any message.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

secret=${key_hex[256]}
for words in "-k $secret" "-K$secret" "-K $secret" "--K=$secret" "--key=$secret"; do
  # shellcheck disable=SC2086 # several words
  expect_exit 2 "$program" -f raw --iv "$iv" $words
  expect_no_stderr "${secret:0:12}|${secret:40:12}"
done
expect_exit 2 "$program" -k "$secret"
expect_error '--key: a key was given instead of a file name' \
  'other users may have seen this command line; make a new key with gpuaes-keygen and name its file'
expect_exit 2 "$program" -k "$key" -i "$secret"
expect_error '--input: a key was given instead of a file name' \
  'other users may have seen this command line; make a new key with gpuaes-keygen and name its file'
for name in "0x$secret" "$secret " "key:$secret"; do
  for option in -k --passphrase-file; do
    expect_exit 2 "$program" "$option" "$name"
    expect_no_stderr "${secret:0:12}|${secret:40:12}"
  done
done

identity=$("$keygen" --x25519 -o identity >/dev/null && head -n 1 identity)
for words in "-k $identity" "-R $identity" "-r @$identity" "-r $identity" "-k $key -i $identity"; do
  # shellcheck disable=SC2086 # several words
  expect_exit 2 "$program" $words
  expect_no_stderr "${identity:20:12}|${identity:50:12}"
done
expect_exit 2 "$program" -R "$identity"
expect_error 'the recipients file: an identity was given instead of the name of its file' \
  'other users may have seen this command line; make a new identity with gpuaes-keygen --x25519 or --post-quantum'
