#!/usr/bin/env bash
# --rekey of a file made of parts copies everything after the header unchanged, in place, to a file and from a pipe. A wrong
# label or a damaged part 0 is refused before anything is written.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from parts_harness import *

secret_file("key2", OTHER_KEY)
NEW = ["--new-key", "key2"]


def write(name, data):
    with open(name, "wb") as f:
        f.write(data)


def content(name):
    with open(name, "rb") as f:
        return f.read()


def rekey(way, before, *options, want=0):
    """The rekeyed file. Nothing is written if the exit status is not 0."""
    write("file", before)
    if os.path.exists("out"):
        os.remove("out")
    what = f"{way}, {options}"
    files = {"pipe": [], "file": [], "-o": ["-i", "file", "-o", "out"], "in place": ["-i", "file"]}[way]
    via = "file" if way == "file" else "pipe"
    got = run("--rekey", "-k", key, *NEW, *options, *files, data=b"" if files else before, via=via)
    expect_equal(want, got.code, f"{what}: exit status ({got.err.decode()})")
    expect_equal([], unfinished_files(), f"{what}: unfinished files")
    if way == "in place":
        expect_equal(b"", got.out, f"{what}: standard output")
        if want:
            expect_same(before, content("file"), f"{what}: the file")
        return content("file")
    expect_same(before, content("file"), f"{what}: the input")
    if want:
        expect_equal((b"", False), (got.out, os.path.exists("out")), f"{what}: output")
        return got
    return content("out") if way == "-o" else got.out


WAYS = ("pipe", "file", "-o", "in place")
for way in WAYS:
    for suite in (pf.AES, pf.KUZNYECHIK):
        for size, count in ((0, 1), (100, 3), (100000, 4), (3000001, 2))[: 2 if suite == pf.KUZNYECHIK else 4]:
            for label in ("", "a label"):
                plain = make_input(size)
                before = pf.seal(plain, count, suite=suite, keys=[KEY], label=label.encode())
                options = ["--label", label] if label else []
                what = f"{way}, suite {suite}, {size} bytes in {count} parts, label '{label}'"
                after = rekey(way, before, *options)
                expect_equal(before[:17], after[:17], f"{what}: magic and suite")
                expect_same(before[HEAD:], after[HEAD:], f"{what}: frames")
                for reader in pf.read_pipe, pf.read_file:
                    expect_equal((0, plain), pf.outcome(reader(after, key=OTHER_KEY, label=label.encode())), what)
                for via in VIAS:
                    expect(0, plain, "-d", "-k", "key2", *options, data=after, via=via, what=what)
                expect(3, b"", "-d", "-k", key, *options, data=after, what=f"{what}, the old key")

plain = make_input(50000)
labeled, bare = pf.seal(plain, 3, keys=[KEY], label=b"right"), pf.seal(plain, 3, keys=[KEY])
for way in WAYS:
    for data, options in ((labeled, []), (labeled, ["--label", "wrong"]), (bare, ["--label", "right"])):
        rekey(way, data, *options, want=4)
    for at in (HEAD, HEAD + 4, HEAD + 8, HEAD + 20, HEAD + 50):  # kind, number, of, salt, commitment
        rekey(way, bare[:at] + bytes([bare[at] ^ 1]) + bare[at + 1 :], want=4)
    for end in (HEAD, HEAD + 72):
        rekey(way, bare[:end], want=4)

# What follows part 0's header is copied without being verified, as with other sealed files.
damaged = bare[:-1] + b"\7"
expect_same(damaged[HEAD:], rekey("-o", damaged)[HEAD:], "damaged index")
PYTHON
