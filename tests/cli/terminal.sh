#!/usr/bin/env bash
# Ciphertext never goes to a terminal; plaintext may.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need python3

python <<'PYTHON'
from harness import *

for options in ([], ["-e"], ["-o", "TERMINAL"]):
    master, slave = os.openpty()
    try:
        name = os.ttyname(slave)
    except OSError:
        print("skipped: terminals have no names here")
        sys.exit(77)
    options = [name if o == "TERMINAL" else o for o in options]
    stdout = subprocess.DEVNULL if "-o" in options else slave
    child = start(*options, stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE)
    try:
        child.stdin.write(b"some text")
        child.stdin.close()
    except BrokenPipeError:
        pass
    expect_exit(child, 2, f"ciphertext to a terminal, {options}")
    error = child.stderr.read()
    if b"terminal" not in error:
        fail(f"expected a message about the terminal, got {error!r}")
    if select.select([master], [], [], 0.3)[0]:
        fail(f"{options}: expected nothing on the terminal, got {os.read(master, 100)!r}")

master, slave = os.openpty()
child = start("-d", stdin=subprocess.PIPE, stdout=slave)
child.stdin.write(reference(b"some text"))
child.stdin.close()
expect_exit(child, 0, "plaintext to a terminal")
if not select.select([master], [], [], 5)[0]:
    fail("expected the plaintext on the terminal")
expect_equal(b"some text", os.read(master, 100), "plaintext on the terminal")
PYTHON
