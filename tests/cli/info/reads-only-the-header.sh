#!/usr/bin/env bash
# --info reads the header and not a byte more: what is behind it in a pipe is there for the next program, a file as
# standard input stands behind it, and a pipe that stays open is not waited for.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

info() { "$program" --info "$@"; }
make_input 300000 plain
gsealed -e <plain >sealed
head -c 175 sealed >header
tail -c +176 sealed >body

{ expect_exit 0 info && cat >rest; } < <(cat sealed)
same body rest "what is left of a pipe"
{ expect_exit 0 info && cat >rest; } <sealed
same body rest "what is left of a file"
expect_exit 0 info <header
expect_exit 0 info -f sealed -i header
mkfifo open
exec 3<>open
cat header >&3
expect_exit 0 timeout 20 "$program" --info <open
exec 3>&-

tail -c +57 sealed >rest-of-bare
{ expect_exit 0 info -f cobblestone && cat >rest; } < <(cat sealed)
same rest-of-bare rest "what is left behind a cobblestone header"
{ printf 'Salted__12345678' && cat plain; } >openssl
{ expect_exit 0 info && cat >rest; } < <(cat openssl)
same plain rest "what is left behind an openssl header"
{ expect_exit 0 info -f raw && cat >rest; } < <(cat plain)
same plain rest "raw has no header"

# From where standard input stands.
{ dd bs=1000 count=1 status=none >skipped && expect_exit 0 info --json && cat >rest; } < <(cat plain sealed | tail -c +299001)
same body rest "behind other bytes"
cat <(head -c 1000 plain) sealed >late
{ dd bs=1000 count=1 status=none >skipped && expect_exit 0 info --json; } <late
grep -q "\"size\": $(stat -c %s sealed)," "$work/stdout" || fail "expected the size from there on, got: $(<"$work/stdout")"
