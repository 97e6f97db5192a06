#!/usr/bin/env bash
# If the command after -- fails, its output does not become a complete stream.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 300000 plain
printf old >old
killed='kill -9 $$'

# check MESSAGE WORD...: the command fails with this message, leaves no file and a stream that is truncated.
check() {
  local message=$1 out
  shift
  for out in new old; do
    for format in sealed cobblestone; do
      expect_exit 1 gsealed -f "$format" -o "$out" -- "$@"
      expect_error "$message"
    done
    expect_exit 1 gs -o "$out" -- "$@"
    expect_error "$message"
  done
  expect_files plain old
  [ "$(<old)" = old ] || fail 'expected the old file to be unchanged'
  for format in sealed cobblestone; do
    expect_exit 1 gsealed -f "$format" -- "$@"
    expect_error "$message"
    cp "$work/stdout" "$work/begun"
    expect_exit 4 gsealed --test -f "$format" <"$work/begun"
    gsealed -d -f "$format" <"$work/begun" >"$work/opened" 2>/dev/null || true
    head -c "$(wc -c <"$work/opened")" plain | cmp -s - "$work/opened" || fail 'expected the beginning of the plaintext'
  done
}
check "the command 'false' failed with exit status 1" false
# shellcheck disable=SC2016
for size in 0 32768 300000; do
  check "the command 'sh' failed with exit status 2" sh -c "head -c $size plain; exit 2"
  check "the command 'sh' was killed by signal 9 (Killed)" sh -c "head -c $size plain; $killed"
done
check "the command 'sh' failed with exit status 255" sh -c 'cat plain; exec >&-; sleep 0.2; exit 255'

# Only the name of the command appears in messages: its arguments may be secrets.
if "$program" -v -P -k "$key" -o new -- sh -c 'exit 3' sh hunter2 2>"$work/stderr"; then fail 'expected a failure'; fi
expect_error "the command 'sh' failed with exit status 3"
expect_no_stderr 'hunter2|exit 3'

# A command that cannot be run.
printf '#!/bin/sh\n' >plain-script
for name in nosuchcommand ./nosuchcommand ''; do
  expect_exit 1 env PATH=/usr/bin:/bin "$program" -q -k "$key" -- "$name"
  expect_error "cannot run the command '$name': No such file or directory"
  expect_empty "$work/stdout"
done
expect_exit 1 gsealed -o new -- /
expect_error "cannot run the command '/': Permission denied"

# The command is run only if the output can be written.
expect_exit 1 gsealed -o missing/new -- touch started
expect_exit 2 gsealed -f raw -- touch started
[ ! -e started ] || fail 'expected the command not to be run'
expect_files plain old plain-script
