#!/usr/bin/env bash
# --info describes several files in one line each, or with --json in one object each, and continues after an error.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

make_input 60000 plain
gsealed plain >one
gsealed -c kuznyechik -k "$key" plain >two
head -c 16575 one >short
head -c 100 one >cut-head
gs plain >'a "raw" file'
printf 'Salted__12345678' >openssl

info() { # STATUS OPTION...
  local want=$1 got=0
  shift
  "$program" --info "$@" >"$work/stdout" 2>"$work/stderr" || got=$?
  [ "$got" = "$want" ] || fail "$*: expected exit status $want, got $got (stderr: $(<"$work/stderr"))"
}
expect_lines() { [ "$(<"$work/stdout")" = "$(printf '%s\n' "$@")" ] || fail "expected the lines $*, got $(<"$work/stdout")"; }

lines=('one: sealed, version 1, aes-256, 1 slot, 60000 bytes of plaintext'
  'two: sealed, version 1, kuznyechik, 2 slots, 60000 bytes of plaintext'
  'short: sealed, version 1, aes-256, 1 slot, truncated' 'openssl: openssl, 0 bytes of plaintext')
info 0 one two short openssl
expect_lines "${lines[@]}"
expect_empty "$work/stderr"
info 0 - one < <(cat one)
expect_lines 'standard input: sealed, version 1, aes-256, 1 slot, size unknown' "${lines[0]}"
info 4 one missing cut-head two
expect_lines "${lines[0]}" "${lines[1]}"
printf 'gpuaes-stream: error: %s\n' 'cannot open missing: No such file or directory' \
  'cut-head: the input is truncated after byte 100, in its header; nothing was written' >expected
same expected "$work/stderr"
info 1 one missing
info 0 -f raw plain 'a "raw" file'
expect_lines 'plain: raw, 60000 bytes of plaintext' 'a "raw" file: raw, 60000 bytes of plaintext'

export LC_ALL=C
odd=$'\xff\n\\'
cp one "$odd"
expect_exit 2 "$program" --info - two - <one
expect_error 'the input and another input are both read from standard input' 'use a different file for one of them'
info 4 --json one missing cut-head 'a "raw" file' "$odd" short
[ ! -s "$work/stdout" ] || [ "$(wc -l <"$work/stdout")" = 3 ] || fail "expected three lines, got $(<"$work/stdout")"
cp "$work/stdout" report
"$program" --info --json <one >alone
python <<'PYTHON'
import json

from harness import *

found = [json.loads(line) for line in open("report", encoding="utf-8")]
expect_equal(["one", "\ufffd\n\\", "short"], [each["file"] for each in found], "the files described")
expect_equal([False, False, True], [each["truncated"] for each in found], "truncated")
expect_equal({"file": "one", **json.load(open("alone"))}, found[0], "the same report as of one file, and its name")
PYTHON
