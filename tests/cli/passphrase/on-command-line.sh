#!/usr/bin/env bash
# A passphrase on the command line is an error that does not show it.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

exposed() { # HINT WORD...
  expect_exit 2 "$program" "${@:2}"
  expect_error 'a passphrase was given on the command line, where other users may have seen it' "$1"
}
alone='choose another passphrase, and use -p alone to enter it'
for words in -phunter2 -dphunter2 -p=hunter2 --passphrase=hunter2 -pcorrect -pbanana -pkitty -pfoo; do
  exposed "$alone" "$words"
done
exposed 'choose another passphrase, and use --new-passphrase alone to enter it' --rekey -k "$key" --new-passphrase=hunter2

no_file='alone to enter it; if the next word was meant to be the input, that file does not exist'
for option in -p -dp -pd --passphrase; do
  exposed "choose another passphrase, and use -p $no_file" "$option" hunter2
  exposed "choose another passphrase, and use -p $no_file" "$option" correct horse
  exposed "choose another passphrase, and use -p $no_file" "$option" hunter2 -o out
done
exposed "choose another passphrase, and use --new-passphrase $no_file" --rekey -k "$key" --new-passphrase hunter2
exposed "choose another passphrase, and use -p $no_file" -p 'two words'

# A file after -p is the input, and so is -.
make_input 1000 plain
python <<'PYTHON'
from harness import *

for words in (["-p", "plain"], ["-pq", "plain"], ["-p", "-"]):
    child = subprocess.run([program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           start_new_session=True)
    expect_equal(1, child.returncode, f"{words}: without a terminal")
    if not child.stderr.startswith(b"gpuaes-stream: error: cannot ask for the passphrase: there is no terminal\n"):
        fail(f"{words}: expected an error about the terminal, got {child.stderr!r}")
PYTHON
expect_files plain
