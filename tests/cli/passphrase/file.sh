#!/usr/bin/env bash
# The passphrase consists of the bytes of a file before its first newline, unchanged: 1 to 1024 of them.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

umask 077
make_input 20000 plain
printf 'correct horse' >passphrase
expect_exit 0 "$program" -q --passphrase-file passphrase <plain
cp "$work/stdout" sealed
[ "$(wc -c <sealed)" = $((108 + 70 + 20000 + 2 * 16)) ] || fail "expected one slot of 70 bytes"
[ "$(head -c 26 sealed | tail -c 10 | perl -0pe '$_ = unpack "H*"')" = 01010046020043110801 ] ||
  fail "expected a slot 02 with N = 2^17, r = 8, p = 1"
expect_exit 0 "$program" -q -d --passphrase-file passphrase <sealed
same plain "$work/stdout"
"$python3" "$here/sealed_format.py" open --passphrase-file passphrase <sealed >opened || fail "expected the independent implementation to open it"
same plain opened "opened by the independent implementation"

python <<'PYTHON'
from sealed_harness import *

plain = make_input(20000)
sealed = {}


def opens(passphrase, content, want):
    if passphrase not in sealed:
        sealed[passphrase] = sf.seal(plain, passphrase=passphrase, log_n=10)
    secret_file("given", content)
    out = plain if want == 0 else b""
    expect(want, out, *QUICK, "-d", "--passphrase-file", "given", data=sealed[passphrase], what=f"{content[:40]!r}")


odd = b"\x80 \xff\xfe \tp\xc3\xa4ss "
longest = b"x" * 1024
for passphrase in (b"a", b"two words", b" ", b"\t \r", b"ends with a space ", odd, bytes(3), longest):
    opens(passphrase, passphrase, 0)
    opens(passphrase, passphrase + b"\n", 0)
    opens(passphrase, passphrase + b"\nsecond line\n", 0)
opens(longest, longest + b"\n" + b"y" * 100000, 0)
# HMAC, and so scrypt, ignores zero bytes at the end of a passphrase, so adding them would not make it wrong.
for wrong in (b"two", b"two  words", b"two words ", b"two words\r\n", b"Two words", b"\0two words", longest):
    opens(b"two words", wrong, 3)
for unusable in (b"", b"\n", b"\nsecond line\n", longest + b"x", longest + b"x\n"):
    opens(b"two words", unusable, 2)
PYTHON

# The same for encryption; an endless file is too long.
: >empty
printf '\nsecond line\n' >empty-line
head -c 1025 /dev/zero >long
for file in empty empty-line long /dev/zero; do
  expect_exit 2 timeout 20 "$program" -q --passphrase-file "$file" <plain
done
expect_error '--passphrase-file: the passphrase from /dev/zero is longer than 1024 bytes' 'a passphrase ends at the first newline'
mkdir directory
expect_exit 1 "$program" -q --passphrase-file missing <plain
expect_error '--passphrase-file: cannot open missing: No such file or directory'
expect_exit 1 "$program" -q --passphrase-file directory <plain
expect_exit 2 "$program" -q --passphrase-file
expect_exit 2 "$program" -q --passphrase-file passphrase --passphrase-file passphrase <plain
expect_exit 2 "$program" -q -p --passphrase-file passphrase <plain
expect_exit 2 "$program" -q -d -p --passphrase-file passphrase <sealed

# A file with Windows line endings: the carriage return is part of the passphrase.
printf 'correct horse\r\nsecond line\r\n' >windows
expect_exit 0 "$program" --passphrase-file windows -i plain -o sealed-windows
warning='the passphrase from windows ends with a carriage return, which is part of it; Windows programs write one before each newline'
[ "$(<"$work/stderr")" = "gpuaes-stream: warning: $warning" ] || fail "expected a warning, got: $(<"$work/stderr")"
expect_exit 3 "$program" -d --passphrase-file windows -i sealed
expect_stderr "^gpuaes-stream: warning: $warning$"
expect_exit 0 "$program" -d --passphrase-file <(printf 'correct horse\r') -i sealed-windows
same plain "$work/stdout" "carriage return"

# From a pipe.
expect_exit 0 "$program" -q -d --passphrase-file <(cat passphrase) <sealed
same plain "$work/stdout"
