#!/usr/bin/env bash
# Without -f, decryption detects authenticated formats by their magic. Any other input fails with status 4 and a hint,
# without output.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

umask 077
make_input 40000 plain
printf 'correct horse\n' >passphrase
gs -e <plain >raw
"$program" -q -f cobblestone -k "$key" <plain >bare
gsealed <plain >sealed
: >empty
printf 'gpuaes-stream' >part
printf 'Salted' >part-openssl
printf 'gpuaes-stream/x\n%200s' '' >like
printf 'gpuaes-stream/1\r\n%200s' '' >converted

for file in plain raw bare empty part part-openssl like converted; do
  expect_exit 4 gsealed -d <"$file"
  expect_empty "$work/stdout" "$file"
  if [ "$file" = empty ]; then
    expect_error 'the input is empty'
  else
    expect_stderr '^gpuaes-stream: hint: name the format with -f if it is one of cobblestone, openssl, raw$'
  fi
  # shellcheck disable=SC2002 # the input must be a pipe
  piped() { cat "$file" | "$program" -q -d "$@"; }
  expect_exit 4 piped -k "$key"
  expect_empty "$work/stdout" "$file"
  expect_exit 4 piped --passphrase-file passphrase
  expect_empty "$work/stdout" "$file"
  expect_exit 4 gsealed -d -i "$file" -o out
  expect_exit 4 gsealed -d -f sealed <"$file"
  expect_empty "$work/stdout" "$file, -f sealed"
done
[ ! -e out ] || fail "expected no output file"

# They open if -f names their format.
expect_exit 0 gs -d <raw
same plain "$work/stdout"
expect_exit 0 gsealed -d -f cobblestone <bare
same plain "$work/stdout"

# The format is also detected if the input arrives byte by byte.
slowly() { (for ((i = 0; i < 20; i++)); do head -c 1 && sleep 0.02; done && cat) <sealed; }
known() { slowly | gsealed -d; }
expect_exit 0 known
same plain "$work/stdout" "in pieces"

# Neither a key nor a format.
for file in plain raw empty; do expect_exit 4 "$program" -d <"$file"; done
for file in plain raw sealed empty; do
  expect_exit 2 "$program" <"$file"
  expect_exit 2 "$program" -d -k "$key" --iv "$iv" <"$file"
done
expect_exit 2 "$program" -k "$key" --iv "$iv" <plain
expect_error '--iv requires -f raw'
expect_exit 2 "$program" -k "$key" --context 00 <plain
expect_error '--context requires -f cobblestone'
expect_exit 4 gsealed -d -f sealed <plain
expect_error "the input is not in the sealed format: it does not begin with 'gpuaes-stream/1' and a newline" \
  'name the format with -f if it is one of cobblestone, openssl, raw'
expect_exit 4 gsealed --rekey --new-key "$key" -i plain
expect_error 'plain: the input is not in the sealed format' 'only sealed files have slots that can be replaced'
