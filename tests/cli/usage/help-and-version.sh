#!/usr/bin/env bash
# -V and -h print to stdout and need nothing else; output that cannot be written is an error, as usual.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

for option in -V --version; do
  expect_exit 0 "$program" "$option"
  grep -Eq '^gpuaes-stream.*[0-9]+\.[0-9]+' "$work/stdout" || fail "$option: expected name and version, got: $(<"$work/stdout")"
  [ "$(wc -l <"$work/stdout")" = 1 ] || fail "$option: expected one line"
  expect_empty "$work/stderr"
done
for option in -h --help; do
  expect_exit 0 "$program" "$option"
  for word in gpuaes-stream -k --key --iv --lanes --chunk-size --stats --trace --progress --size --force --list-lanes; do
    grep -Fq -e "$word" "$work/stdout" || fail "$option: expected $word in it"
  done
  for title in Mode 'Keys and recipients' 'Input and output' 'Format and cipher' 'Lanes and speed' Examples; do
    grep -Fxq "$title:" "$work/stdout" || fail "$option: expected the title '$title'"
  done
  expect_empty "$work/stderr"
done

full() { "$program" "$@" >/dev/full; }
closed() { "$program" "$@" >&-; }
for option in -V -h --list-lanes; do
  expect_exit 1 full "$option"
  expect_exit 1 closed "$option"
done
