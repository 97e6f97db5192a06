#!/usr/bin/env bash
# --passphrase-command uses the first line that a command prints, and never shows it.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

plain = make_input(20000)
sealed = sf.seal(plain, passphrase=b"two words", log_n=10)


def opens(content, want):
    with open("printed", "wb") as f:
        f.write(content)
    out = plain if want == 0 else b""
    expect(want, out, *QUICK, "-d", "--passphrase-command", "cat printed", data=sealed, what=f"{content[:40]!r}")


for good in (b"two words", b"two words\n", b"two words\nurl: example.org\n\n", b"two words\n" + b"x" * 60000):
    opens(good, 0)
for wrong in (b"two words\r\n", b" two words", b"\xff\0\n", b"x" * 1024):
    opens(wrong, 3)
for unusable in (b"", b"\n", b"\ntwo words\n", b"x" * 1025, b"two words\n" + b"x" * 70000):
    opens(unusable, 2)
PYTHON

make_input 20000 plain
printf 'two words' >"$work/words"
chmod 600 "$work/words"
seal() { "$program" -q --passphrase-command "$@"; }

# The command runs in a shell, once, without the data on standard input. Its standard error passes through.
expect_exit 0 seal 'cat; echo run >>runs; echo "two words"; echo unlocked >&2' <plain
[ "$(<"$work/stderr")" = unlocked ] || fail "expected the command's standard error, got: $(<"$work/stderr")"
cp "$work/stdout" sealed
expect_exit 0 "$program" -q -d --passphrase-file "$work/words" <sealed
same plain "$work/stdout"
expect_exit 0 "$program" -q -d -k "$key" --passphrase-command 'echo run >>runs; echo two words' -i sealed
same plain "$work/stdout"
[ "$(wc -l <runs)" = 2 ] || fail "expected one run for each command line, got $(wc -l <runs)"

# With a command as the input.
expect_exit 0 seal 'echo two words' -o from-command -- cat plain
expect_exit 0 "$program" -q -d --passphrase-file "$work/words" -i from-command
same plain "$work/stdout"

# A failure: nothing is opened or written, and neither the command nor its output is shown.
refused() { # MESSAGE COMMAND
  expect_exit 2 "$program" -v --passphrase-command "$2" -i missing -o new
  expect_error "$1"
  expect_no_stderr 'hunter2'
}
refused '--passphrase-command failed with exit status 1' 'echo hunter2; false hunter2'
refused '--passphrase-command failed with exit status 127' 'exit 127 # hunter2'
# shellcheck disable=SC2016
refused '--passphrase-command was killed by signal 15 (Terminated)' 'echo hunter2; kill $$'
refused 'the passphrase from the output of --passphrase-command is empty' true
refused 'the output of --passphrase-command is longer than 65536 bytes' 'yes hunter2'
expect_exit 2 seal 'head -c 2000 /dev/zero' <plain
expect_error 'the passphrase from the output of --passphrase-command is longer than 1024 bytes' \
  'a passphrase ends at the first newline'
expect_exit 0 "$program" --passphrase-command 'printf "pw\r\n"' -i plain -o windows
expect_stderr 'warning: the passphrase from the output of --passphrase-command ends with a carriage return'

# New passphrases.
expect_exit 2 "$program" --rekey --passphrase-command 'echo two words' --new-passphrase-command false -i sealed
expect_error '--new-passphrase-command failed with exit status 1'
expect_exit 0 "$program" -q --rekey --passphrase-command 'echo two words' --new-passphrase-command 'echo three' -i sealed
expect_exit 3 "$program" -q -d --passphrase-file "$work/words" -i sealed
expect_exit 0 "$program" -q -d --passphrase-command 'echo three' -i sealed
same plain "$work/stdout"

# Usage.
expect_exit 2 seal 'echo three' -p -i plain
expect_error '--passphrase and --passphrase-command cannot be used together'
expect_exit 2 seal 'echo three' --passphrase-file "$work/words" -i plain
expect_error '--passphrase-file and --passphrase-command cannot be used together'
expect_exit 2 seal 'echo three' --new-passphrase-command 'echo four' -i plain
expect_error '--new-passphrase-command requires --rekey'
expect_files plain printed sealed runs from-command windows
