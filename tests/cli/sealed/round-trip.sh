#!/usr/bin/env bash
# Sealed data opens again, at every length around a segment and a chunk, between pipes and files, on every lane. With
# one key, a sealed stream has a header of 175 bytes, and 16 more bytes for each segment.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

try() { # SIZE OPTION...
  local size=$1 sealed_size
  shift
  make_input "$size" plain
  sealed_size=$((175 + size + 16 * (size / 16384 + 1)))
  # shellcheck disable=SC2002 # the input must be a pipe
  from_pipe() { cat plain | gsealed "$@"; }
  # shellcheck disable=SC2002
  open_pipe() { cat sealed | gsealed -d "$@"; }

  expect_exit 0 from_pipe "$@"
  mv "$work/stdout" sealed
  [ "$(wc -c <sealed)" = "$sealed_size" ] || fail "$size bytes, $*: expected $sealed_size bytes, got $(wc -c <sealed)"
  expect_exit 0 open_pipe "$@"
  same plain "$work/stdout" "$size bytes between pipes, $*"

  expect_exit 0 gsealed "$@" -i plain -o sealed
  expect_empty "$work/stdout"
  [ "$(wc -c <sealed)" = "$sealed_size" ] || fail "$size bytes, $*: expected a file of $sealed_size bytes"
  expect_exit 0 gsealed "$@" -d -f sealed -i sealed -o opened
  same plain opened "$size bytes between files, $*"
  expect_exit 0 gsealed "$@" -d <sealed
  same plain "$work/stdout" "$size bytes from a file, $*"
}

for lanes in $(lanes_here); do
  sizes='0 1 15 16 17 16383 16384 16385'
  if sanitized || [[ $lanes == cuda* ]]; then sizes='0 17 16384'; fi # runs are slow
  for size in $sizes; do try "$size" -l "$lanes"; done
  for size in 32767 32768 32769 163840 200003; do try "$size" -l "$lanes" -b 32K; done
done
try 1000003

# Success prints no message.
expect_exit 0 "$program" -k "$key" <plain
expect_empty "$work/stderr"
cp "$work/stdout" sealed
expect_exit 0 "$program" -k "$key" -d <sealed
expect_empty "$work/stderr"
