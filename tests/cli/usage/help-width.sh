#!/usr/bin/env bash
# Help is as wide as the terminal, up to 100 columns, and has the same text at every width; COLUMNS takes precedence.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

python <<'PYTHON'
from harness import *

folder = os.path.dirname(program)
commands = [["gpuaes-stream"], ["gpuaes-keygen"], ["gpuaes-parts"], ["gpuaes-parts", "seal"], ["gpuaes-bench"], ["gpuaes-bench", "pipeline"]]
plain = {name: value for name, value in os.environ.items() if name != "COLUMNS"}


def piped(command, **environment):
    child = subprocess.run([f"{folder}/{command[0]}", *command[1:], "-h"], env={**plain, **environment}, stdout=subprocess.PIPE)
    return child.stdout.decode()


def shown(command, columns, **environment):
    master, slave = open_terminal(columns)
    child = subprocess.Popen([f"{folder}/{command[0]}", *command[1:], "-h"], env={**plain, **environment}, stdout=slave)
    os.close(slave)
    text = read_terminal(master).decode().replace("\r\n", "\n")
    child.wait()
    os.close(master)
    return text


def check(command, text, columns, what):
    what = f"{' '.join(command)} -h, {what}"
    # Only the lists are wrapped, not usage and examples.
    lists = re.findall(r"^\w[\w ]*:\n(?:  .*\n|\n(?=\w[\w ]*:\n  ))+", text, re.M)
    lines = [line for part in lists if not part.startswith("Examples:") for line in part.splitlines()]
    widest = max(map(len, lines))
    if widest > columns:
        fail(f"{what}: expected at most {columns} columns, got {widest}")
    if command == ["gpuaes-stream"] and widest < columns - 3:
        fail(f"{what}: expected about {columns} columns, got {widest}")
    if text.split() != piped(command).split():
        fail(f"{what}: expected the words that are printed to a pipe, got:\n{text}")


for command in commands:
    for columns, expected in (60, 60), (80, 80), (93, 93), (100, 100), (101, 100), (250, 100):
        check(command, shown(command, columns), expected, f"on a terminal of {columns} columns")
    if command == ["gpuaes-stream"]:
        check(command, shown(command, 40), 40, "on a terminal of 40 columns")
    check(command, shown(command, 0), 80, "on a terminal of unknown width")
    check(command, piped(command), 80, "to a pipe")
    check(command, shown(command, 80, COLUMNS="64"), 64, "COLUMNS=64 on a terminal")
    check(command, piped(command, COLUMNS="64"), 64, "COLUMNS=64 to a pipe")
    for nonsense in "", "0", "-1", "64x", "99999999999999999999":
        check(command, shown(command, 90, COLUMNS=nonsense), 90, f"COLUMNS={nonsense}")
PYTHON
