#!/usr/bin/env bash
# --rekey replaces all slots of a sealed file, for all kinds of old and new slots: the new secrets open it and the old
# ones no longer do. All bytes after the header's MAC stay the same.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

identity = bytes(range(9, 41))
recipient = sf.to_text(sf.RECIPIENT, sf.public_key(identity))
secret_file("identity", sf.to_text(sf.IDENTITY, identity).encode() + b"\n")
secret_file("key2", OTHER_KEY)
secret_file("words", b"correct horse\n")
secret_file("other-words", b"battery staple\n")
with open("list", "w") as f:
    f.write(recipient + "\n")

KEY_2 = {"key": OTHER_KEY}
file_key = os.urandom(32)
key_slot, words_slot = sf.key_slot(file_key, KEY), sf.passphrase_slot(file_key, b"correct horse", 10)
x25519_slot = sf.x25519_slot(file_key, sf.public_key(identity))
# Slots of the old file, and a secret that opens it: for the program, and for the independent implementation.
OLD = [
    ([key_slot], ["-k", key], {"key": KEY}),
    ([words_slot], ["--passphrase-file", "words"], {"passphrase": b"correct horse"}),
    ([x25519_slot], ["-k", "identity"], {"identity": identity}),
    ([(5, b"unknown"), key_slot, (0x7F, b""), words_slot], ["-k", key], {"key": KEY}),
]
NEW = [
    (["--new-key", "key2"], [(["-k", "key2"], KEY_2)], [1]),
    (["--new-passphrase-file", "other-words"],
     [(["--passphrase-file", "other-words"], {"passphrase": b"battery staple"})], [2]),
    (["-r", recipient], [(["-k", "identity"], {"identity": identity})], [3]),
    (["-r", "@list", "--new-key=key2"], [(["-k", "identity"], {"identity": identity}), (["-k", "key2"], KEY_2)], [1, 3]),
    (["--new-key", "key2", "--new-key", key, "--new-passphrase-file", "other-words"],
     [(["-k", "key2"], KEY_2), (["-k", key], {"key": KEY}),
      (["--passphrase-file", "other-words"], {"passphrase": b"battery staple"})], [1, 1, 2]),
]


def check(before, after, plain, new, kinds, old, what):
    slots, end = sf.parse_header(after)
    expect_equal(kinds, sorted(kind for kind, _ in slots), f"{what}: types of the new slots")
    _, old_end = sf.parse_header(before)
    expect_equal(before[:17], after[:17], f"{what}: magic and suite")
    expect_same(before[old_end + 32 :], after[end + 32 :], f"{what}: bytes after the header's MAC")
    for secret, named in new:
        expect_equal((0, plain), open_independently(after, **named), f"{what}: independent reader")
        expect(0, plain, "-d", *secret, data=after, what=what)
    if not any(secret == old[1] for secret, _ in new):
        expect_equal((3, b""), open_independently(after, **old[2]), f"{what}: the old secret, independent reader")
        expect(3, b"", "-d", *old[1], data=after, what=f"{what}, the old secret")


def rekey(via, before, *options):
    """Exit status, messages, and the rekeyed file."""
    with open("file", "wb") as f:
        f.write(before)
    if via in ("pipe", "file"):
        got = run("--rekey", *options, data=before, via=via)
        return got.code, got.err, got.out
    out = ["-o", "out"] if via == "-o" else []
    got = run("--rekey", *options, "-i", "file", *out)
    expect_equal(b"", got.out, f"{via}: standard output")
    if out:
        expect_same(before, open("file", "rb").read(), f"{via}: the input")
    return got.code, got.err, open("out" if out else "file", "rb").read()


WAYS = ["pipe", "file", "-o", "in place"]
MESSAGES = [(0, 1), (40000, 1), (16384, 2), (3000000, 1)]  # bytes, suite
number = 0
for old in OLD:
    for options, new, kinds in NEW:
        # scrypt is slow, so only one old secret is replaced by new passphrases. Skips an old secret that is also new.
        if (2 in kinds and old is not OLD[0]) or any(secret == old[1] for secret, _ in new[:1]):
            continue
        size, suite = MESSAGES[number // len(WAYS) % len(MESSAGES)]
        plain = make_input(size)
        before = sf.seal(plain, slots=old[0], file_key=file_key, suite=suite)
        for way in {WAYS[number % len(WAYS)], "pipe"}:
            what = f"{size} bytes, suite {suite}, {way}, {' '.join(old[1] + options)}"
            code, messages, after = rekey(way, before, *old[1], *options)
            expect_equal((0, b""), (code, messages), f"{what}: exit status and messages")
            check(before, after, plain, new, kinds, old, what)
        number += 1

# Rekeying with the same key gives a new slot. Checked in every way, with a file of a few megabytes.
plain = make_input(5000001)
before, seen = sf.seal(plain, [KEY]), set()
for way in WAYS:
    _, _, after = rekey(way, before, "-k", key, "--new-key", key)
    expect_same(before[HEADER - 56 :], after[HEADER - 56 :], f"{way}, 5000001 bytes")
    seen |= {before[20:87], after[20:87]}
    expect(0, plain, "-d", "-k", key, data=after, what=f"{way}, 5000001 bytes")
expect_equal(len(WAYS) + 1, len(seen), "number of different slots")
left = unfinished_files()
expect_equal([], left, "unfinished files")
PYTHON
