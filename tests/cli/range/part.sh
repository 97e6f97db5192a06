#!/usr/bin/env bash
# --part I/N decrypts part I of N: for every format that has ranges, the outputs of all parts, concatenated, are the
# plaintext, and each begins at a multiple of 16384 bytes. Some are empty if there are more parts than segments.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

for size in 0 1 16383 16384 16385 49152 200001; do
  make_input "$size" plain
  gsealed <plain >sealed
  gs -i plain -o raw
  "$program" -q -f cobblestone -k "$key" -i plain -o cobblestone
  for parts in 1 2 3 7 14; do
    for format in sealed raw cobblestone; do
      options=(-q -d -k "$key" -f "$format" -i "$format")
      [ $format != raw ] || options+=(--iv "$iv")
      : >together
      for ((i = 0; i < parts; i++)); do
        [ $(($(stat -c %s together) % 16384)) = 0 ] || [ "$(stat -c %s together)" = "$size" ] ||
          fail "$format of $size bytes: part $i/$parts does not begin at a segment"
        "$program" "${options[@]}" --part "$i/$parts" -b 16K >>together
      done
      cmp plain together || fail "$format of $size bytes in $parts parts"
    done
  done
done

expect_exit 0 gsealed --part 1048575/1048576 -i sealed -o last
[ ! -s last ] || fail 'expected the last of 1048576 parts to be empty'

hint='use I/N, for example 0/4, with I less than N, and N at most 1048576'
for part in 4/4 5/4 0/0 0/1048577 1048576 /4 4/ -1/4 1/4/2 1:4 1K/2K 99999999999999999999/4 ''; do
  expect_exit 2 gsealed "--part=$part" -i sealed
  case $part in
    '') expect_stderr 'requires a value|is missing|--part' ;;
    *) expect_error "invalid part '$part'" "$hint" ;;
  esac
done
for other in --salvage '--range 0:1' -e; do
  # shellcheck disable=SC2086 # several words
  expect_exit 2 gsealed --part 0/2 $other -i sealed
  expect_stderr 'part'
done
expect_exit 2 gsealed --part 0/2 < <(cat sealed)
expect_error '--part requires a seekable input' 'name a file with -i, or redirect standard input from a file'
expect_exit 2 "$program" -f openssl -d --part 0/2 --passphrase-file "$key" -i sealed
expect_error 'the openssl format does not support --part' 'formats that support it: sealed, cobblestone, raw'
gsealed -a <plain >armored
expect_exit 2 gsealed --part 0/2 -i armored
expect_error 'armored: --part does not work on armored input' 'remove the armor first, with sed /^-----/d FILE | base64 -di'
