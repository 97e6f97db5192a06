#!/usr/bin/env bash
# An independent implementation opens files sealed for post-quantum recipients, and vice versa: for one and 32 recipients,
# along with key files and in files made of parts. Only the right identity opens a slot, and only if it is unmodified.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography
need_ml_kem

export SEED=$top/tests/fuzz/corpus/header/opens-x-wing-recipient-and-key VECTORS=$top/tests/vectors/xwing.inc
python <<'PYTHON'
from sealed_harness import *

xwing = sf.xwing
with open(os.environ["VECTORS"]) as f:
    vectors = [line.strip('",\n').split() for line in f if line.startswith('"')]
expect_equal(3, len(vectors), "the draft's vectors")
for seed, _, public, ciphertext, shared in (map(bytes.fromhex, vector) for vector in vectors):
    expect_equal((public, shared), (xwing.public_key(seed), xwing.decapsulate(seed, ciphertext)), "the draft's vectors")

seeds = [bytes(range(i, i + 32)) for i in range(3)]
publics = [xwing.public_key(each) for each in seeds]
texts = [sf.to_text(sf.PQ_RECIPIENT, each) for each in publics]
files = [secret_file(f"identity{i}", b"# mine\n\n" + sf.to_text(sf.PQ_IDENTITY, each).encode() + b"\n# a comment\n")
         for i, each in enumerate(seeds)]
in_reader = [{"pq_identity": each} for each in seeds]
with open("list", "w") as f:
    f.write(f"# those who may read\n\n  {texts[1]}\t\r\n \n{texts[2].upper()}")
with open("many", "w") as f:
    f.write(f"{texts[0]}\n" * 31 + texts[1])
x25519 = bytes(range(9, 41))
secret_file("x25519", sf.to_text(sf.IDENTITY, x25519).encode() + b"\n")


ciphertexts = []
for size, cipher, options, opening in (
    (0, "aes-256", ["-r", texts[0]], {0}),
    (16384, "kuznyechik", ["-R", "list"], {1, 2}),
    (40000, "aes-256", ["-r", texts[0], "-r", "@list"], {0, 1, 2}),
    (40000, "aes-256", ["-R", "many"], {0, 1}),
    (1, "aes-256", ["-k", key, "-r", texts[2]], {2}),
):
    plain, what = make_input(size), f"{size} bytes, {cipher}, {options[0]}"
    got = run("-c", cipher, *options, data=plain)
    expect_equal((0, b""), (got.code, got.err), f"{what}: exit status and messages")
    slots, _ = sf.parse_header(got.out)
    ciphertexts += [body[:1120] for kind, body in slots if kind == sf.XWING]
    expect_opened_only_by(opening, files, in_reader, got.out, plain, what)
    if "-k" in options:
        expect_equal((0, plain), open_independently(got.out), f"{what}: with the key")
        expect_open(got.out, plain, what=what)
expect_equal((1 + 2 + 3 + 32 + 1, len(ciphertexts)), (len(set(ciphertexts)), len(set(ciphertexts))), "different ciphertexts")

# Sealed by the independent implementation. Slots of both kinds of recipients are read, but not written.
plain, file_key = make_input(20000), os.urandom(32)
good = sf.xwing_slot(file_key, publics[0])
own, other = sf.key_slot(file_key, KEY), sf.xwing_slot(file_key, publics[1])
of_x25519 = sf.x25519_slot(file_key, sf.public_key(x25519))


def seal(*slots, **fields):
    return sf.seal(plain, slots=slots, file_key=file_key, **fields)


for what, slots in {
    "alone": [good],
    "among others": [own, other, (5, b"?"), of_x25519, good],
    "after a damaged one": [(4, flip(good[1], 1100)), good],
    "after one that has an X25519 part of low order": [(4, good[1][:1088] + bytes(32) + good[1][1120:]), good],
    "32": [other] * 31 + [good],
}.items():
    data = seal(*slots)
    expect(0, plain, "-d", "-k", files[0], data=data, what=what)
    expect(0, plain, "-d", "-k", "x25519", "-k", files[2], "-k", files[0], data=data, what=f"{what}, several identities")
expect(0, plain, "-d", "-k", "x25519", data=seal(good, of_x25519), what="X25519 next to X-Wing")
secret_file("both", b"".join(open(name, "rb").read() for name in ("x25519", files[0])))
expect(0, plain, "-d", "-k", "both", data=seal(good), what="a file of identities of both kinds")

# A file from the time when slots of this type were introduced.
with open(os.environ["SEED"], "rb") as f:
    expect_open(f.read(), b"some text\n", "-k", files[0], what="an old file")

# What does not open.
NONE = "none of the given identities opens the input"


def refused(want, what, data, *secret, message):
    expect_message(expect(want, b"", "-d", *(secret or ("-k", files[0])), data=data, what=what), message, what)


refused(3, "another's identity", seal(good), "-k", files[1], message=NONE)
refused(3, "an X25519 identity", seal(good), "-k", "x25519",
        message="error: the input was sealed for a post-quantum recipient, and no post-quantum identity was given\n.*hint: name the identity file with -k\n")
refused(3, "a post-quantum identity for an X25519 slot", seal(of_x25519), message="the input was sealed for an X25519 recipient, and no X25519 identity was given")
refused(4, "a slot of another file", seal(sf.xwing_slot(os.urandom(32), publics[0])), message="the header or its MAC was modified")
refused(4, "another header MAC", seal(good, mac=bytes(32)), message="the header or its MAC was modified")
refused(4, "along with a passphrase", seal(good, sf.passphrase_slot(file_key, b"words", 10)), message="slots for both a passphrase and a recipient")
for wrong in (0, 80, 1167, 1169):
    refused(4, f"a body of {wrong} bytes", seal((4, bytes(wrong))), message=f"a slot of type 04 has {wrong} bytes instead of 1168")
for point in (bytes(32), (2**255 - 19).to_bytes(32, "little"), good[1][1088:1119] + bytes([good[1][1119] | 128])):
    refused(3, f"the X25519 part {point.hex()}", seal((4, good[1][:1088] + point + good[1][1120:])), message=NONE)

# Every byte of a slot, each in one of 32 slots of a file to save time: none opens.
for at in thinned(range(0, 1168, 32), 4):
    slots = [(4, flip(good[1], i, i % 8)) for i in range(at, min(at + 32, 1168))]
    refused(3, f"bytes from {at} of the slot damaged", seal(*slots), message=NONE)
PYTHON
