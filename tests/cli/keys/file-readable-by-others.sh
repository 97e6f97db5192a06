#!/usr/bin/env bash
# A key file that its group or others can read causes one warning that names it, unless -q is given. The key is used
# anyway.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000 plain
gsealed -e <plain >sealed
warned() { # NAME...: there is exactly one warning about each of these files
  local name
  [ "$(wc -l <"$work/stderr")" = $# ] || fail "expected $# warnings, got: $(<"$work/stderr")"
  for name; do
    [ "$(grep -c "^gpuaes-stream: warning: .*$name" "$work/stderr" || true)" = 1 ] ||
      fail "expected one warning that names $name, got: $(<"$work/stderr")"
  done
}

cp "$key" secret-key
for mode in 644 640 604 444 664 777; do
  chmod "$mode" secret-key
  for direction in -e -d; do
    expect_exit 0 "$program" "$direction" -k secret-key <sealed
    warned secret-key
    expect_exit 0 "$program" "$direction" -q -k secret-key <sealed
    warned
  done
done
for mode in 600 400 700; do
  chmod "$mode" secret-key
  for direction in -e -d; do
    expect_exit 0 "$program" "$direction" -k secret-key <sealed
    warned
  done
done
same plain "$work/stdout"

chmod 644 secret-key
expect_exit 0 "$program" -d -k secret-key <sealed
expect_stderr '^gpuaes-stream: warning: secret-key is readable by other users; run chmod 600 secret-key$'

# Warns about each of several keys and about the target of a link, but not about a pipe.
cp secret-key second-key
cp secret-key third-key
printf '%064x\n' 7 >third-key
chmod 644 secret-key second-key
chmod 600 third-key
expect_exit 0 "$program" -k secret-key -k third-key -k second-key <plain
warned secret-key second-key
ln -s secret-key link
expect_exit 0 "$program" -k link <plain
warned link
expect_exit 0 "$program" -k <(cat secret-key) <plain
warned
exec 9< <(cat secret-key)
expect_exit 0 "$program" -k /dev/fd/9 <plain
warned
# The raw format also prints its own warning.
expect_exit 0 "$program" -f raw --iv "$iv" -k secret-key <plain
[ "$(grep -c '^gpuaes-stream: warning: .*secret-key' "$work/stderr")" = 1 ] || fail "expected a warning with -f raw"
