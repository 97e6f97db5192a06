#!/usr/bin/env bash
# The examples of --help and of the manual pages of commands run as they are printed.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need mandoc tar

# The commands that follow "$ ", with the lines that continue them.
commands_in_page() {
  mandoc -T ascii -O width=100 "$top/man/$1.1" | sed 's/.\x08//g' |
    awk '/^[A-Z]/ { wanted = /^EXAMPLES/ } wanted && /^ +\$ / { sub(/^ +\$ /, ""); command = 1 } !NF { command = 0 } wanted && command'
}
commands_in_help() {
  "$program" --help | sed -n '/^Examples:$/,$ s/^    //p'
}
commands_in_page gpuaes-stream >stream
commands_in_page gpuaes-keygen >keygen
commands_in_page gpuaes-parts >parts
commands_in_help >help
for part in stream:--rekey stream:--range stream:'openssl enc' stream:--trace keygen:-y parts:--part help:@recipient; do
  grep -q -e "${part#*:}" "${part%%:*}" || fail "expected an example with ${part#*:} in ${part%%:*}, got: $(<"${part%%:*}")"
done

# Runs each list of commands in its own folder, on a terminal where the answer to every question is the same passphrase.
export EXAMPLES=$work/here LISTS='stream keygen parts help'
PATH=$(dirname "$program"):$PATH python <<'PYTHON'
from harness import *

for name in os.environ["LISTS"].split():
    folder = f"{os.environ['EXAMPLES']}/{name}.run"
    os.makedirs(f"{folder}/photos")
    for file, size in ("photos/one.jpg", 100_000), ("disk.img", 300_000), ("letter", 1_000):
        with open(f"{folder}/{file}", "wb") as out:
            out.write(b"Dear reader,\n" * (size // 13))
    pid, terminal = os.forkpty()
    if pid == 0:
        os.chdir(folder)
        os.umask(0o022)
        os.execvp("bash", ["bash", "-euo", "pipefail", f"../{name}"])
    shown = b""
    while part := read_terminal(terminal, bool):
        shown += part
        if shown.rstrip(b" ").endswith(b":"):  # a question
            os.write(terminal, b"correct horse\n")
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    shown = shown.decode(errors="replace")
    if status != 0:
        fail(f"{name}: expected the examples to succeed, got exit status {status}:\n{shown}")
    complaints = [line for line in shown.splitlines() if re.match("gpuaes-.*(error|warning|hint): ", line)]
    if [line for line in complaints if "not authenticated" not in line]:
        fail(f"{name}: expected no other messages, got {complaints}")
PYTHON

for file in stats.json trace.json letter.raw photos/one.jpg disk.img; do
  [ -s "stream.run/$file" ] || fail "expected the examples to leave $file"
done
"$program" --test -q -k keygen.run/backup.key -i keygen.run/photos.sealed || fail "expected a file sealed with the key"
cmp keygen.run/recipient <("$keygen" -y keygen.run/identity) || fail "expected the recipient of the identity"
