#!/usr/bin/env bash
# A file sealed with --label opens with exactly that label, in the program and in an independent implementation, and
# does not contain the label. With another label or none, every way to open the file fails with status 4 before any
# output.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

NFC, NFD = "caf\u00e9".encode(), "cafe\u0301".encode()
LABELS = [b"a", b"backup 2026-11-21 /srv", NFC, NFD, " \n\t\x01\x1b\x7f\u0080\ufeff".encode(), "\U0001f512\U0010ffff".encode(),
          b"x" * 255, "\u00e9".encode() * 127 + b"x", b"\x01", b"gpuaes-stream/1\n\x01"]
SUITES = [(1, []), (2, ["-c", "kuznyechik"])]
DIFFERENT = "corrupt at byte .* or was sealed with a different label"


def with_label(label):
    return [] if label is None else ["--label", os.fsdecode(label)]


# Both directions, with pipes and files.
for number, label in enumerate(LABELS):
    for suite, cipher in SUITES:
        size, via = (0, 40000, SEGMENT)[number % 3], ("pipe", "file")[number % 2]
        plain, what = make_input(size), f"label {label!r}, suite {suite}, {size} bytes"
        sealed = run("-k", key, *cipher, *with_label(label), data=plain, via=via)
        expect_equal((0, b""), (sealed.code, sealed.err), f"{what}: exit status and messages to seal")
        expect_equal(HEADER + size + 16 * (size // SEGMENT + 1), len(sealed.out), f"{what}: size")
        if len(label) > 3 and not label.startswith(sf.MAGIC) and label in sealed.out:
            fail(f"{what}: expected the label not to be stored")
        expect_equal((0, plain), open_independently(sealed.out, key=KEY, label=label), f"{what}: independent reader")
        expect_equal((4, b""), open_independently(sealed.out), f"{what}: independent implementation without the label")
        other = sf.seal(plain, [KEY], suite=suite, label=label)
        expect_open(other, plain, *with_label(label), via=via, what=f"{what}, sealed independently")

# Other secrets.
identity = bytes(range(9, 41))
recipient = sf.public_key(identity)
secret_file("identity", sf.to_text(sf.IDENTITY, identity).encode() + b"\n")
secret_file("words", b"correct horse\n")
secret_file("wrong", OTHER_KEY)
plain = make_input(3 * SEGMENT + 100)
for name, options, open_with, secret in [
        ("passphrase", ["--passphrase-file", "words"], ["--passphrase-file", "words"], {"passphrase": b"correct horse"}),
        ("recipient", ["-r", sf.to_text(sf.RECIPIENT, recipient)], ["-k", "identity"], {"identity": identity})]:
    sealed = run(*options, *with_label(NFC), data=plain).out
    expect_equal((0, plain), open_independently(sealed, label=NFC, **secret), name)
    expect(0, plain, "-d", *open_with, *with_label(NFC), data=sealed, what=name)
    got = expect(4, b"", "-d", *open_with, *with_label(NFD), data=sealed, what=f"{name}, another label")
    expect_message(got, DIFFERENT, name)


def expect_nothing(data, label, what):
    """The label is refused in every mode, from every kind of input, and no file changes."""
    with open("sealed", "wb") as f:
        f.write(data)
    with open("old", "wb") as f:
        f.write(b"old")
    modes = [["-d"], ["--test"], ["--salvage"], ["--salvage", "--test"], ["--range", "0:1"], ["--range", "20000:"],
             ["--rekey", "--new-key", "wrong"]]
    for mode in modes:
        for source in ("pipe", "file", "-i"):
            if source == "pipe" and "--range" in mode:
                continue
            for out in ([], ["-o", "out"], ["-o", "old"]):
                if out and "--test" in mode:
                    continue
                named, more = ["-i", "sealed"] if source == "-i" else [], {} if source == "-i" else {"data": data, "via": source}
                got = expect(4, b"", *mode, "-k", key, *with_label(label), *named, *out, what=what, **more)
                expect_message(got, DIFFERENT, what)
                if "--salvage" not in mode:
                    expect_message(got, "hint: --label must be the text the input was sealed with, or omitted if there was none\n", what)
                if os.path.exists("out") or unfinished_files():
                    fail(f"{what}, {mode}: expected no output file")
                expect_equal((b"old", data), (open("old", "rb").read(), open("sealed", "rb").read()), f"{what}: files")


for suite, _ in SUITES:
    for label, tries in [(NFC, [None, NFD, NFC + b" ", NFC[:-2], b"CAF\xc3\x89"]), (b"", [b"a", b"\x01"]),
                         (b"x" * 255, [b"x" * 254, None])]:
        data = sf.seal(plain, [KEY], suite=suite, label=label)
        for wrong in thinned(tries, 2):
            expect_equal((4, b""), open_independently(data, key=KEY, label=wrong or b""), f"opened with {wrong!r}: independent reader")
            expect_nothing(data, wrong, f"suite {suite}, sealed with {label!r}, opened with {wrong!r}")

# Two files under the same key cannot be swapped, and the message of one cannot follow the header of the other.
one, two = (sf.seal(plain, [KEY], label=label) for label in (b"one", b"two"))
expect_open(one, plain, "--label", "one", what="one")
expect_refused(4, two, "--label", "one", what="two instead of one")
expect_refused(4, one[: HEADER - 56] + two[HEADER - 56 :], "--label", "two", what="one's header before two's message")

# The right label opens in every mode.
data = sf.seal(plain, [KEY], label=NFC)
right = ["-k", key, *with_label(NFC)]
expect(0, b"", "--test", *right, data=data, what="test")
expect(0, plain, "--salvage", *right, data=data, what="salvage")
expect(0, plain[20000:20100], "--range", "20000:100", *right, data=data, via="file", what="range")
damaged = flip(data, HEADER + 5)
expect(4, bytes(SEGMENT) + plain[SEGMENT:], "--salvage", *right, data=damaged, what="salvage of a damaged segment")
expect_damage(flip(data, HEADER + SEALED + 5), 1, plain, *right, what="damaged segment")
for at in range(HEADER - 56, HEADER, 11):
    got = expect_refused(4, flip(data, at), *right, what=f"damaged at {at}")
    expect_message(got, DIFFERENT, "damaged salt or commitment")

# A wrong key fails with status 3, whatever the label.
for label in (NFC, NFD, None):
    expect_refused(3, data, "-k", "wrong", *with_label(label), what="wrong key")

# --rekey keeps the label, in place and as a filter.
for suite, _ in SUITES:
    data = sf.seal(plain, [KEY], suite=suite, label=NFC)
    with open("sealed", "wb") as f:
        f.write(data)
    expect(0, b"", "--rekey", *right, "--new-key", "wrong", "-i", "sealed", what="rekey in place")
    got = run("--rekey", *right, "--new-key", "wrong", data=data)
    for after in (open("sealed", "rb").read(), got.out):
        expect_same(data[HEADER - 56 :], after[HEADER - 56 :], "rekey: bytes after the header's MAC")
        expect_equal((0, plain), open_independently(after, key=OTHER_KEY, label=NFC), "rekey: independent reader")
        expect(0, plain, "-d", "-k", "wrong", *with_label(NFC), data=after, what="rekeyed")
        expect_refused(4, after, "-k", "wrong", what="rekeyed, without the label")
PYTHON
