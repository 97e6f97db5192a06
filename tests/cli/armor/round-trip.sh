#!/usr/bin/env bash
# With -a, the sealed stream is Base64 between a BEGIN and an END line, which decryption detects. An independent
# implementation reads and writes the same. Checked with files and pipes, all lanes, and various sizes.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from armor import *
from sealed_harness import *

sizes = [0, 1, 2, 3, 47, 48, 49, 1000, *(n * SEGMENT + d for n in (1, 2, 4) for d in (-1, 0, 1)), 100000]
for k, lanes in enumerate(LANES):
    for i, size in enumerate(thinned(sizes, 4, lanes, k)):
        plain, via = make_input(size), ("pipe", "file")[i % 2]
        options = ("-l", lanes, *(["-b", "16K"], ["-b", "48K"], [])[i % 3])
        what = f"{size} bytes, {via}, {lanes}"
        made = run("-k", key, "-a", *options, data=plain, via=via)
        expect_equal((0, b""), (made.code, made.err), what)
        expect_equal((0, plain), open_independently(dearmor(made.out)), f"{what}: independent reader")
        expect_open(made.out, plain, *options, what=what, via=via)
        expect_open(made.out, plain, *options, "-f", "sealed", what=what, via=via)
        made = sf.seal(plain, [KEY])
        for newline in (b"\n", b"\r\n"):
            expect_open(armor(made, newline), plain, *options, what=f"{what}, newline {newline}", via=via)
        expect(0, b"", "--test", "-k", key, *options, data=armor(made), via=via, what=f"{what}, --test")

# White space around the armor; the last line without its newline; the Kuznyechik suite; a header of many lines.
plain = make_input(40000)
text = armor(sf.seal(plain, [KEY]))
for whole in (b"\n\n \t\r\n" + text, text + b"\n\r\n  ", text[:-1], b"\n" * 1024 + text, text + b" " * 1023):
    for via in "pipe", "file":
        expect_open(whole, plain, what=f"armor that begins with {whole[:5]} and ends with {whole[-5:]}", via=via)
made = run("-k", key, "-a", "-c", "kuznyechik", "-k", key, data=plain).out
expect_open(made, plain, what="Kuznyechik")
expect_open(armor(sf.seal(plain, [OTHER_KEY] * 31 + [KEY])), plain, what="32 slots")

# Armor is data like any other, so it can be sealed again, and armor within armor is not a sealed stream.
expect_open(run("-k", key, "-a", data=text).out, text, what="sealed twice")
got = expect_refused(4, armor(text), what="armored twice")
expect_message(got, "error: the input is not in the sealed format", "armored twice")

# A name for the output, and several MiB.
plain = make_input((1 if slow else 8) * 1000000)
with open("plain", "wb") as f:
    f.write(plain)
expect(0, b"", "-k", key, "-a", "-i", "plain", "-o", "text", what="-o")
with open("text", "rb") as f:
    text = f.read()
expect_equal((0, plain), open_independently(dearmor(text)), "-o: independent reader")
expect(0, b"", "-d", "-k", key, "-i", "text", "-o", "again", what="-o, decrypted")
with open("again", "rb") as f:
    expect_same(plain, f.read(), "-o, decrypted")
PYTHON
