#!/usr/bin/env bash
# gpuaes-keygen prints a new key of 64 hexadecimal digits, or writes it to a new file that only its owner can read. It
# never replaces a file.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

[ -x "$keygen" ] || fail "gpuaes-keygen is not in the folder of $program"
try() { # STATUS OPTION...: also checks the form of messages
  local want=$1 got=0
  shift
  "$keygen" "$@" >"$work/stdout" 2>"$work/stderr" || got=$?
  [ "$got" = "$want" ] || fail "gpuaes-keygen $*: expected exit status $want, got $got (stderr: $(<"$work/stderr"))"
  [ "$(grep -c '^gpuaes-keygen: error: ' "$work/stderr" || true)" = $((want != 0)) ] ||
    fail "gpuaes-keygen $*: expected an error message only with an error, got: $(<"$work/stderr")"
  if grep -Ev '^gpuaes-keygen: (error|hint): [^A-Z ].*[^. ]$' "$work/stderr" >"$work/odd"; then
    fail "gpuaes-keygen $*: expected messages in lowercase without a period, got: $(<"$work/odd")"
  fi
  if [ "$want" != 0 ]; then expect_empty "$work/stdout"; fi
}
is_key() { # FILE
  [ "$(wc -c <"$1")" = 65 ] || fail "expected 64 digits and a newline, got $(wc -c <"$1") bytes"
  [[ "$(<"$1")" =~ ^[0-9a-f]{64}$ ]] || fail "expected 64 digits, got $(<"$1")"
}

for ((i = 0; i < 20; i++)); do
  try 0
  expect_empty "$work/stderr"
  is_key "$work/stdout"
  cat "$work/stdout" >>"$work/all"
done
[ "$(sort -u "$work/all" | wc -l)" = 20 ] || fail "expected 20 different keys"

for mask in 000 022 077 177 027; do
  (umask "$mask" && try 0 -o "key-$mask") || exit 1
  is_key "key-$mask"
  [ "$(stat -c %a "key-$mask")" = 600 ] || fail "umask $mask: expected mode 600, got $(stat -c %a "key-$mask")"
done
try 0 --output=key
expect_empty "$work/stdout"
! cmp -s key key-022 || fail "expected different keys"

# Never replaces a file.
cp key before
ln -s missing dangling
ln -s key link
mkdir directory
mkfifo fifo
for name in key link dangling directory fifo /dev/null missing/key; do
  try 1 -o "$name"
done
same before key "key after the attempt to replace it"
[ ! -e missing ] || fail "expected no file created through a dangling link"
[ -L dangling ] || fail "expected the dangling link to remain"
files=(key-000 key-022 key-077 key-177 key-027 key before dangling link directory fifo)
expect_files "${files[@]}"
try 1 -o key
expect_error 'cannot open key: File exists' 'existing files are never overwritten; choose another name'

if can_hide_proc; then # then the file has a temporary name first
  without_proc "$keygen" -o named || fail "without /proc: expected success"
  is_key named
  [ "$(stat -c %a named)" = 600 ] || fail "without /proc: expected mode 600, got $(stat -c %a named)"
  for name in key link dangling directory; do
    got=0
    without_proc "$keygen" -o "$name" 2>"$work/stderr" || got=$?
    [ "$got" = 1 ] || fail "without /proc, -o $name: expected exit status 1, got $got"
  done
  same before key "key after the attempt without /proc"
  expect_files "${files[@]}" named
fi

for bad in -x --no-such-option --outputs=other -d -k; do try 2 "$bad"; done
try 2 -o
try 2 stray
expect_error 'a file name requires -o or -y' \
  'use -o FILE to write to a file, or -y FILE to print its recipients'
try 2 -o one -o two
try 2 -o one stray
try 2 -- stray
full() { "$keygen" >/dev/full 2>"$work/stderr"; }
closed() { "$keygen" >&- 2>"$work/stderr"; }
for way in full closed; do
  got=0
  "$way" || got=$?
  [ "$got" = 1 ] || fail "$way: expected exit status 1, got $got"
  grep -q '^gpuaes-keygen: error: ' "$work/stderr" || fail "$way: expected an error message"
done
for option in -h --help -V --version; do
  try 0 "$option"
  grep -q gpuaes-keygen "$work/stdout" || fail "$option: expected the program's name"
done

make_input 100000 plain
expect_exit 0 "$program" -k key <plain
expect_empty "$work/stderr"
cp "$work/stdout" sealed
expect_exit 0 "$program" -d -k key <sealed
same plain "$work/stdout"
expect_exit 3 "$program" -d -k key-022 <sealed
