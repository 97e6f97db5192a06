#!/usr/bin/env bash
# A long option may be shortened to any prefix that no other option begins with. A shorter one is an error that lists
# the options it could mean.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

python <<'PYTHON'
from harness import *

folder = os.path.dirname(program)


def error_of(*command):
    result = subprocess.run([f"{folder}/{command[0]}", *command[1:]], stdin=subprocess.DEVNULL, capture_output=True,
                            text=True)
    found = re.search(r": error: (.*)", result.stderr)
    if result.returncode != 2 or not found:
        fail(f"{command}: expected a usage error, got status {result.returncode} and {result.stderr!r}")
    return found[1]


def check(*command):
    help_text = subprocess.run([f"{folder}/{command[0]}", *command[1:], "-h"], capture_output=True, text=True).stdout
    options = dict(re.findall(r"^  (?:-\w,|   ) --([\w-]+)( [A-Z][^ ]*)?", help_text, re.M))
    if len(options) < 3:
        fail(f"{command}: expected more options, got {options}")
    for name, argument in options.items():
        for end in range(1, len(name) + 1):
            prefix = name[:end]
            meant = [prefix] if prefix in options else [each for each in options if each.startswith(prefix)]
            if len(meant) > 1:
                *others, last = [f"--{each}" for each in meant]
                expected = f"option '--{prefix}' is ambiguous: {', '.join(others)} or {last}"
                given = [f"--{prefix}", f"--{prefix}=value"]
            elif options[meant[0]]:
                expected = f"option '--{meant[0]}' requires a value"
                given = [f"--{prefix}"]
            elif meant[0].endswith("passphrase"):
                expected = "a passphrase was given on the command line, where other users may have seen it"
                given = [f"--{prefix}=value"]
            else:
                expected = f"option '--{meant[0]}' does not take a value"
                given = [f"--{prefix}=value"]
            for each in given:
                if (error := error_of(*command, each)) != expected:
                    fail(f"{command} {each}: expected {expected!r}, got {error!r}")


check("gpuaes-stream")
check("gpuaes-keygen")
check("gpuaes-parts", "plan")
check("gpuaes-parts", "seal")
check("gpuaes-parts", "join")
check("gpuaes-bench", "pipeline")
PYTHON

make_input 100000 plain
expect_exit 0 "$program" --enc --cip aes-256 --form raw --iv "$iv" --key "$key" --inp plain --out=out --chunk 16K --qui
reference <plain >expected
same expected out
