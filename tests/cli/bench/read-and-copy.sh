#!/usr/bin/env bash
# gpuaes-bench read reads a file from its offset to its end with any number of threads, and refuses anything but a file.
# gpuaes-bench copy copies its input.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

[ -x "$bench" ] || fail "gpuaes-bench is not in the folder of $program"
expect_read() { # BYTES WORD...: from standard input
  local want=$1
  shift
  "$bench" read --csv "$@" >"$work/stdout" || fail "read $*: expected exit status 0, got $?"
  [ "$(wc -l <"$work/stdout")" = 2 ] || fail "read $*: expected one row, got: $(<"$work/stdout")"
  grep -Eq "^$1,[0-9]+,${3:-$1},$want,[0-9.e-]+,[0-9.e+]+\$" "$work/stdout" ||
    fail "read $*: expected $want bytes, got: $(<"$work/stdout")"
}

make_input 3000001 plain
for words in "1 1M" "2 64K" "7 4095" "3 1M 9" "16 1G"; do
  read -r -a list <<<"$words"
  expect_read 3000001 "${list[@]}" <plain
done
{
  head -c 1000001 >/dev/null # reads ahead in steps, then restores the offset
  expect_read 2000000 2 64K
  [ "$(wc -c)" = 0 ] || fail "expected standard input at its end"
} <plain

: >empty
expect_failure() { # WHAT
  local got=0
  "$bench" read 2 64K >"$work/stdout" 2>"$work/stderr" || got=$?
  [ "$got" = 1 ] || fail "read from $1: expected exit status 1, got $got"
  expect_empty "$work/stdout"
  expect_stderr '^gpuaes-bench: error: .*standard input'
}
expect_failure "an empty file" <empty
expect_failure "a device" </dev/null
true | expect_failure "a pipe"
expect_failure "a closed descriptor" <&-
expect_failure "a folder" <.

for size in 1000 64K 4M; do
  "$bench" copy "$size" <plain >"$work/copy"
  same plain "$work/copy" "copy $size"
done
got=0
"$bench" copy 64K <plain >/dev/full 2>"$work/stderr" || got=$?
[ "$got" = 1 ] || fail "copy to a full disk: expected exit status 1, got $got"
