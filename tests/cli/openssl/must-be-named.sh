#!/usr/bin/env bash
# Decryption without -f accepts only authenticated formats. Input that begins with Salted__ fails with status 4 in every
# mode, with every kind of secret, from a pipe and from a file, without a prompt and without output, and the hint names
# -f openssl.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need setsid

umask 077
printf 'correct horse\n' >passphrase
make_input 40000 plain
"$program" -q -f openssl --passphrase-file passphrase -i plain -o salted
{ printf 'Salted__' && openssl rand 4992; } >noise
printf 'Salted__' >magic
echo 'an older output' >old

# Without a terminal, a prompt would fail with status 2.
refused() { # FILE OPTION...
  local file=$1 hint='use -d -f openssl to decrypt it; modifications will go undetected$' out=(-o out) ways=(piped redirected named)
  shift
  [[ " $* " != *' --test '* ]] || out=()
  [[ " $* " != *' --range '* ]] || ways=(redirected named)
  # shellcheck disable=SC2002 # a pipe is one of the cases
  piped() { cat "$file" | setsid --wait "$program" "$@"; }
  for way in "${ways[@]}"; do
    case $way in
      piped) expect_exit 4 piped "$@" ;;
      redirected) expect_exit 4 setsid --wait "$program" "$@" <"$file" ;;
      named) expect_exit 4 setsid --wait "$program" "$@" "${out[@]}" -i "$file" ;;
    esac
    expect_empty "$work/stdout" "$way, $*"
    expect_stderr "^gpuaes-stream: hint: $hint"
    expect_no_stderr 'warning'
  done
}
for quiet in '' -q; do
  for secret in "-k $key" -p '--passphrase-file passphrase' "-k $key --passphrase-file passphrase"; do
    for mode in -d --test '--range 0:1' '--range 0:' --salvage '--salvage --test' "--rekey --new-key $key" \
      '-d --iter 10000' '-d -c aes-256'; do
      # shellcheck disable=SC2086 # several words
      refused salted $mode $secret $quiet
    done
    # shellcheck disable=SC2086
    for file in noise magic; do refused "$file" -d $secret $quiet; done
  done
done
expect_files plain passphrase salted noise magic old

# An existing output stays unchanged.
expect_exit 4 "$program" -d --passphrase-file passphrase -i salted -o old
[ "$(<old)" = 'an older output' ] || fail "expected the old output to be kept"

# A named format opens it, with a warning unless -q; --info decrypts nothing and detects the format.
expect_exit 0 "$program" -d -f openssl --passphrase-file passphrase -i salted
same plain "$work/stdout"
expect_stderr 'warning: the openssl format is not authenticated; modifications will go undetected$'
expect_exit 0 "$program" -q -d -f openssl --passphrase-file passphrase -i salted
same plain "$work/stdout"
expect_empty "$work/stderr"
expect_exit 4 "$program" -d -f sealed -k "$key" -i salted
expect_stderr 'hint: use -d -f openssl to decrypt it; modifications will go undetected$'
expect_exit 0 "$program" --info -i salted
grep -q '^format  *openssl$' "$work/stdout" || fail "expected --info to detect the format, got: $(<"$work/stdout")"
