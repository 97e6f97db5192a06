#!/usr/bin/env bash
# --rekey -i FILE without -o replaces the file and keeps its mode, owner and symbolic links; a hard link keeps the old
# slots. With -o the new file is like any other output.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

umask 077
"$keygen" -o new
make_input 300001 plain
gsealed -e <plain >sealed
cp sealed before
body() { tail -c +120 "$1"; } # salt, commitment and segments, after one key slot
opens() { # KEY FILE
  expect_exit 0 "$program" -d -k "$1" -i "$2"
  same plain "$work/stdout" "$2"
}
rekey=("$program" --rekey -k "$key" --new-key new)

mkdir links
ln -s ../sealed links/relative
ln -s "$PWD/links/relative" links/twice
ln before other-name
for mode in 600 640 444 755; do
  cp before sealed
  chmod "$mode" sealed
  expect_exit 0 "${rekey[@]}" -i links/twice
  expect_empty "$work/stdout"
  expect_empty "$work/stderr"
  [ "$(stat -c %a sealed)" = "$mode" ] || fail "expected mode $mode, got $(stat -c %a sealed)"
  if [ ! -L links/twice ] || [ ! -L links/relative ]; then fail "expected the links to be still links"; fi
  opens new sealed
  expect_exit 3 "$program" -d -k "$key" -i sealed
  same <(body before) <(body sealed) "bytes after the header"
done
if [ "$(id -u)" = 0 ]; then
  chmod 640 sealed
  chown 65534:65534 sealed
  cp before copy && cat copy >sealed
  expect_exit 0 "${rekey[@]}" -i sealed
  [ "$(stat -c %u:%g:%a sealed)" = 65534:65534:640 ] || fail "expected owner and mode, got $(stat -c %u:%g:%a sealed)"
  rm copy
fi

# Another name of the file.
expect_exit 0 "${rekey[@]}" -i before
opens new before
opens "$key" other-name
mv other-name before

# In a read-only directory the file stays unchanged.
need_user
mkdir closed
cp before closed/sealed
cp new "$work/new"
chmod 644 closed/sealed
chown -R 65534 closed "$work/new" 2>/dev/null || true
chmod 555 closed
closed_rekey() { "${as_user[@]}" "$program" --rekey -k "$key" --new-key "$work/new" -i closed/sealed; }
expect_exit 1 closed_rekey
same before closed/sealed
chmod 755 closed
rm -r closed

# With -o onto an existing file; from standard input with an offset; several runs in a pipeline.
printf 'old' >out
chmod 604 out
expect_exit 0 "${rekey[@]}" -i before -o out
[ "$(stat -c %a out)" = 604 ] || fail "expected mode 604, got $(stat -c %a out)"
opens new out
{ printf 'something else'; cat before; } >with-offset
from_the_middle() { { head -c 14 >/dev/null; "${rekey[@]}"; } <with-offset; }
expect_exit 0 from_the_middle
cp "$work/stdout" rekeyed
opens new rekeyed
through_pipes() { "${rekey[@]}" <before | "$program" --rekey -k new --new-key "$key" | "$program" -d -k "$key"; }
expect_exit 0 through_pipes
same plain "$work/stdout" "rekeyed twice through pipes"
onto_full() { "${rekey[@]}" <before >/dev/full; }
expect_exit 1 onto_full
expect_files before links new out plain rekeyed sealed with-offset

[ "$(id -u)" = 0 ] || skip "the check of the owner: only root can change it"
