#!/usr/bin/env bash
# --info reads only the header: the rest of a pipe is left for the next program, a file as standard input is left
# positioned after the header, and a pipe that stays open does not delay it.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

info() { "$program" --info "$@"; }
make_input 300000 plain
gsealed -e <plain >sealed
head -c 175 sealed >header
tail -c +176 sealed >body

{ expect_exit 0 info && cat >rest; } < <(cat sealed)
same body rest "rest of a pipe"
{ expect_exit 0 info && cat >rest; } <sealed
same body rest "rest of a file"
expect_exit 0 info <header
expect_exit 0 info -f sealed -i header
mkfifo open
exec 3<>open
cat header >&3
expect_exit 0 timeout 20 "$program" --info <open
exec 3>&-

tail -c +57 sealed >rest-of-bare
{ expect_exit 0 info -f cobblestone && cat >rest; } < <(cat sealed)
same rest-of-bare rest "rest after a cobblestone header"
{ printf 'Salted__12345678' && cat plain; } >openssl
{ expect_exit 0 info && cat >rest; } < <(cat openssl)
same plain rest "rest after an openssl header"
{ expect_exit 0 info -f raw && cat >rest; } < <(cat plain)
same plain rest "raw, which has no header"

# From the offset of standard input.
{ dd bs=1000 count=1 status=none >skipped && expect_exit 0 info --json && cat >rest; } < <(cat plain sealed | tail -c +299001)
same body rest "after other bytes"
cat <(head -c 1000 plain) sealed >late
{ dd bs=1000 count=1 status=none >skipped && expect_exit 0 info --json; } <late
grep -q "\"size\": $(stat -c %s sealed)," "$work/stdout" || fail "expected the size from the offset on, got: $(<"$work/stdout")"
