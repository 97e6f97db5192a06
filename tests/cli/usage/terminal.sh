#!/usr/bin/env bash
# Without --force, ciphertext and binary plaintext are never written to a terminal. If the input must be typed, a
# message says so.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *

for options in ([], ["-e"], ["-o", "TERMINAL"]):
    master, slave = open_terminal()
    name = os.ttyname(slave)
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
    if b"refusing to write ciphertext to a terminal\n" not in error:
        fail(f"expected a message about the terminal, got {error!r}")
    if select.select([master], [], [], 0.3)[0]:
        fail(f"{options}: expected nothing on the terminal, got {os.read(master, 100)!r}")



def show(data, *options, want=0, first=b""):
    """Decrypts to a terminal. Returns its output and the messages. `first` is sent before, in a separate chunk."""
    master, slave = open_terminal()
    settings = termios.tcgetattr(slave)
    settings[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, settings)
    child = start(*options, stdin=subprocess.PIPE, stdout=slave, stderr=subprocess.PIPE)
    os.close(slave)
    sent = reference(first + data)
    if first:
        child.stdin.write(sent[: len(first)])
        child.stdin.flush()
        shown = read_terminal(master, lambda seen: len(seen) >= len(first))
    else:
        shown = b""
    child.stdin.write(sent[len(first) :])
    child.stdin.close()
    shown += read_terminal(master)
    expect_exit(child, want, f"{options}, {data!r}")
    return shown, child.stderr.read()


for text in (b"some text", "naïve\ttext\r\n… and 𝄞\f\n".encode(), b""):
    expect_equal((text, b""), show(text, "-d"), "text on the terminal")
for binary in (b"\0", b"\x1b[31m", b"text\n\x07", b"\x7f", b"\xc2\x9b", b"\xff", bytes(range(256))):
    shown, error = show(binary, "-d", want=2)
    expect_equal(b"", shown, f"{binary!r}: output on the terminal")
    if not error.startswith(b"gpuaes-stream: error: refusing to write binary plaintext to a terminal\n"
                            b"gpuaes-stream: hint: redirect the output, name a file with -o, or use --force\n"):
        fail(f"expected an error and a hint, got {error!r}")
    expect_equal((binary, b""), show(binary, "-d", "--force"), "forced on the terminal")
# Text in earlier chunks is shown, but no part of a binary chunk. A character may span two chunks.
blocks = b"sixteen letters\n" * 4
expect_equal(blocks, show(b"text and \x1b[31m", "-d", "-b", "64", first=blocks, want=2)[0], "text before a binary chunk")
across = b"x" * 63 + "é".encode()[:1]
expect_equal(across + "é!".encode()[1:], show("é!".encode()[1:], "-d", "-b", "64", first=across)[0], "é across chunks")
expect_equal(b"x" * 63 + b"\xc2", show(b"\x9b31m", "-d", "-b", "64", first=b"x" * 63 + b"\xc2", want=2)[0], "C1 across chunks")
# Ciphertext with --force.
expect_equal((reference(b"some text"), b""), show(reference(b"some text"), "--force"), "ciphertext, forced")

# Input typed on the terminal.
for options, message in ((["-e"], True), (["-d"], True), (["-e", "-q"], False), (["-e", "-i", "typed"], False)):
    master, slave = open_terminal()
    with open("typed", "wb") as f:
        f.write(b"typed")
    child = spawn("-f", "raw", "--iv", iv, "-k", key, *options, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until_idle(child)
    if "-i" not in options:
        os.write(master, b"typed\n\x04")
    out, error = child.communicate(timeout=PATIENCE)
    expect_equal(0, child.returncode, f"typed, {options}")
    expect_equal(reference(b"typed\n" if "-i" not in options else b"typed"), out, f"typed, {options}")
    expect_equal(message, b"gpuaes-stream: reading standard input from the terminal; press Ctrl-D at the beginning of a line to end it\n" in error, f"message, {options}")

# One ^D is enough to end an empty input.
for options in (["-d"], ["--test"], ["--info"], ["--rekey", "--new-key", key]):
    master, slave = open_terminal()
    child = spawn(*([] if "--info" in options else ["-k", key]), *options, stdin=slave, stdout=subprocess.DEVNULL,
                  stderr=subprocess.PIPE)
    seen = child.stderr.read(20)
    if not seen.startswith(b"gpuaes-stream: reading"[:20]):
        fail(f"{options}: expected a message about waiting for input, got {seen!r}")
    os.write(master, b"\x04")
    expect_exit(child, 4, f"{options}, an empty input from the terminal")
PYTHON
