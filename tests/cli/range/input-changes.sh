#!/usr/bin/env bash
# If a file changes while --range waits for the passphrase, its size at the time of opening counts.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

SECRET = b"correct horse"
plain = make_input(100000)
sealed = sf.seal(plain, passphrase=SECRET, log_n=10)
header = len(sealed) - len(plain) - 7 * 16
at_end = (plain[99000:], ["--range", "99000:"])
in_front = (plain[10:110], ["--range", "10:100"])

master, slave = open_terminal()
start_session_on(slave)
for before, after, want, message, ranges in (
    # A complete stream that grows or shrinks.
    (sealed, sealed + sealed, 0, None, (at_end, in_front)),
    (sealed, sealed + b"x", 0, None, (at_end, in_front)),
    (sealed, sealed[:-1], 1, "shrank", (at_end, in_front)),
    (sealed, sealed[:header], 1, "shrank", (at_end, in_front)),
    (sealed, b"", 1, "shrank", (at_end, in_front)),
    # A stream that is not yet complete.
    (sealed[:header], sealed, 4, "truncated", (at_end, in_front)),
    (sealed[: header + 1], sealed, 4, "truncated", (at_end, in_front)),
    (sealed[: header + SEALED], sealed, 4, "truncated", (at_end, in_front)),
):
    for out, options in ranges:
        what = f"{len(before)} bytes, then {len(after)}, {options}"
        with open("file", "wb") as f:
            f.write(before)
        child = spawn("-q", "-p", "-i", "file", *options, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        read_terminal(master, lambda seen: seen.endswith(b"passphrase for file: "))
        with open("file", "r+b") as f:
            f.write(after)
            f.truncate()
        os.write(master, SECRET + b"\n")
        got, errors = child.communicate(timeout=PATIENCE)
        expect_equal(want, child.returncode, f"{what}: return code (stderr: {errors.decode()})")
        expect_same(out if want == 0 else b"", got, what)
        expect_equal(want != 0, errors.count(b"error: ") == 1, f"{what}: one message")
        if message and not re.search(message, errors.decode()):
            fail(f"{what}: expected stderr to match '{message}', got: {errors.decode()}")
sys.stdout.flush()
os._exit(0)
PYTHON
