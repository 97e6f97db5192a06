#!/usr/bin/env bash
# An independent implementation opens files sealed with -r, and vice versa: for one and several recipients, in addition
# to key files, with either suite. No two slots are alike.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

identities = [bytes(range(i, i + 32)) for i in range(5)]
recipients = [sf.public_key(each) for each in identities]
texts = [sf.to_text(sf.RECIPIENT, each) for each in recipients]
files = [
    secret_file(f"identity{i}", sf.to_text(sf.IDENTITY, each).encode() + b"\n# a comment\n")
    for i, each in enumerate(identities)
]
in_reader = [{"identity": each} for each in identities]
with open("list", "w") as f:
    f.write(f"# those who may read\n\n  {texts[1]}\t\r\n{texts[2].upper()}\n \n{texts[3]}")


ephemerals = []
for size in thinned([0, 1, 16383, 16384, 40000], 3):
    plain = make_input(size)
    for cipher in ("aes-256", "kuznyechik"):
        for options, opening in (
            (["-r", texts[0]], {0}),
            (["-r", texts[0], "--recipient=" + texts[4]], {0, 4}),
            (["-r", "@list"], {1, 2, 3}),
            (["-r", texts[4], "-r", "@list", "-r", texts[4]], {1, 2, 3, 4}),
            (["-k", key, "-r", texts[2]], {2}),
        ):
            what = f"{size} bytes, {cipher}, {' '.join(options)}"
            got = run("-c", cipher, *options, data=plain)
            expect_equal((0, b""), (got.code, got.err), f"{what}: exit status and messages")
            slots, _ = sf.parse_header(got.out)
            ephemerals += [body[:32] for kind, body in slots if kind == sf.X25519]
            expect_opened_only_by(opening, files, in_reader, got.out, plain, what)
            if "-k" in options:
                expect_equal((0, plain), open_independently(got.out), f"{what}: with the key")
                expect_open(got.out, plain, what=what)
expect_equal(len(ephemerals), len(set(ephemerals)), "number of different ephemeral keys")

# Sealed by the independent implementation, with all kinds of slots in various orders.
for suite in (1, 2):
    plain = make_input(40000)
    sealed = sf.seal(plain, recipients=[recipients[1], recipients[3]], suite=suite)
    expect_opened_only_by({1, 3}, files, in_reader, sealed, plain, f"suite {suite}")
file_key = os.urandom(32)
mine, others = (sf.x25519_slot(file_key, recipients[i]) for i in (0, 1))
foreign = sf.x25519_slot(os.urandom(32), recipients[0])
damaged = (mine[0], flip(mine[1], 50))
own_key = sf.key_slot(file_key, KEY)
for what, slots in {
    "last": [own_key, others, (5, b"?"), mine],
    "after a damaged one": [damaged, mine],
    "after that of another file": [foreign, mine, own_key],
    "twice": [mine, mine],
    "among 32": [others] * 20 + [own_key] * 11 + [mine],
}.items():
    data = sf.seal(plain, slots=slots, file_key=file_key)
    expect_equal((0, plain), open_independently(data, identity=identities[0]), f"{what}: independent reader")
    expect(0, plain, "-d", "-k", files[0], data=data, what=what)
    expect(0, plain, "-d", "-k", files[3], "-k", files[0], data=data, what=f"{what}, the second identity")
# Both a key file and an identity may be given, and either opens.
data = sf.seal(plain, slots=[own_key], file_key=file_key)
expect(0, plain, "-d", "-k", files[0], "-k", key, data=data, what="a key and an identity")
PYTHON
