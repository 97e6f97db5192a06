"""An independent implementation opens files sealed for recipients, and vice versa. Only the right identity opens a
slot, and only if it is unmodified."""

import itertools
import os
import pathlib
import types

import pytest

from programs import (AGAIN_OR_SALVAGE, KEY, OTHER_KEYS, OTHER_SECRETS, SANITIZED, each_way, expect_same, flipped,
                      secret_file, some_bytes, spread)

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402
import damage  # noqa: E402

TOP = pathlib.Path(__file__).parents[3]
OTHER_KEY = bytes(32 - i for i in range(32))
PLAIN = some_bytes(20000)
FILE_KEY = os.urandom(32)
NONE = "none of the given identities opens the input"
NO_X25519 = "the input was encrypted for an X25519 recipient, and no X25519 identity was given"
NO_POST_QUANTUM = "the input was encrypted for a post-quantum recipient, and no post-quantum identity was given"
NO_IDENTITY = {"x25519": NO_X25519, "post-quantum": NO_POST_QUANTUM}
WITH_K = "name the identity file with -k"
PRIVATE = [bytes(range(i, i + 32)) for i in range(4)]


@pytest.fixture
def people(kind, work):
    """Four recipients with files of their identities, as the independent implementation knows them."""
    recipient, identity, public_key, slot, number = (
        (sf.PQ_RECIPIENT, sf.PQ_IDENTITY, sf.xwing.public_key, sf.xwing_slot, sf.XWING) if kind.post_quantum else
        (sf.RECIPIENT, sf.IDENTITY, sf.public_key, sf.x25519_slot, sf.X25519))
    publics = [public_key(each) for each in PRIVATE]
    content = [f"# mine\n\n{sf.to_text(identity, each)}\n# a comment\n".encode() for each in PRIVATE]
    secret_file("x25519", sf.to_text(sf.IDENTITY, OTHER_KEY).encode() + b"\n")
    return types.SimpleNamespace(
        publics=publics,
        slot=slot,
        number=number,
        texts=[sf.to_text(recipient, each) for each in publics],
        files=[secret_file(work / f"identity{i}", each) for i, each in enumerate(content)],
        secrets=[{"pq_identity" if kind.post_quantum else "identity": each} for each in PRIVATE],
    )


def seal(*slots, **fields):
    return sf.seal(PLAIN, slots=slots, file_key=FILE_KEY, **fields)


def expect_opened_only_by(opening, people, run, sealed, plain):
    for i, (file, secret) in enumerate(zip(people.files, people.secrets)):
        want = (0, plain) if i in opening else (3, b"")
        if i in opening or sealed[17] < 32:  # the number of slots; to try 32 of them takes long
            assert damage.open_independently(sealed, **secret) == want
        got = run("-q", "-d", "-k", file, input=sealed, status=want[0])
        expect_same(want[1], got.out)
        assert got.error == ("" if i in opening else NONE)


def test_sealed_by_the_program(kind, people, batch, key, work):
    texts = people.texts
    (work / "list").write_text(f"# those who may read\n\n  {texts[1]}\t\r\n \n{texts[2].upper()}")
    (work / "many").write_text(f"{texts[0]}\n" * 31 + texts[1])
    of_recipients = (
        (["-r", texts[0]], {0}),
        (["-r", texts[0], "--recipient=" + texts[3]], {0, 3}),
        (["-R", work / "list"], {1, 2}),
        (["-r", texts[3], "-r", f"@{work}/list", "-r", texts[3]], {1, 2, 3}),
        (["-k", key, "-r", texts[2]], {2}),
        (["-R", work / "many"], {0, 1}),
    )
    contents = [*((size, "aes-256") for size in (0, 1, 16383, 16384, 40000)), (0, "kuznyechik"), (1000, "kuznyechik")]
    cases = list(itertools.product(of_recipients, contents))
    cases = cases[::6] if kind.post_quantum or SANITIZED else cases
    ways = [(kind.stream, case) for case in cases] if kind.post_quantum else each_way(batch, cases)
    values = []
    for run, ((options, opening), (size, cipher)) in ways:
        plain = some_bytes(size)
        sealed = run("-f", "sealed", "-c", cipher, "-q", *options, input=plain)
        assert sealed.err == ""
        slots = [body for number, body in sf.parse_header(sealed.out)[0] if number == people.number]
        values += [body[:-48] for body in slots]
        expect_opened_only_by(opening, people, run, sealed.out, plain)
        if "-k" in options:
            assert damage.open_independently(sealed.out) == (0, plain)
            expect_same(plain, run("-q", "-d", "-k", key, input=sealed.out).out)
    assert len(values) == len(set(values)), "expected no ephemeral key or ciphertext twice"


def test_sealed_independently(kind, people, key):
    for suite in (1, 2):
        sealed = seal(*(people.slot(FILE_KEY, people.publics[i]) for i in (1, 3)), suite=suite)
        expect_opened_only_by({1, 3}, people, kind.stream, sealed, PLAIN)
    mine, another = (people.slot(FILE_KEY, people.publics[i]) for i in (0, 1))
    of_x25519 = sf.x25519_slot(FILE_KEY, sf.public_key(OTHER_KEY))
    own_key = sf.key_slot(FILE_KEY, KEY)
    foreign = people.slot(os.urandom(32), people.publics[0])
    for slots in (
        [mine],
        [own_key, another, (5, b"?"), mine],
        [own_key, another, (5, b"?"), of_x25519, mine],
        [(mine[0], flipped(mine[1], len(mine[1]) - 30)), mine],
        [(mine[0], mine[1][:-80] + bytes(32) + mine[1][-48:]), mine],  # an X25519 part of low order
        [foreign, mine, own_key],
        [mine, mine],
        [another] * 20 + [own_key] * 11 + [mine],
    ):
        assert kind.post_quantum or damage.open_independently(seal(*slots), **people.secrets[0]) == (0, PLAIN)
        for names in (people.files[:1], ["x25519", people.files[2], people.files[0]]):
            names = ["x25519", *names] if of_x25519 in slots else names
            options = itertools.chain.from_iterable(("-k", name) for name in names)
            expect_same(PLAIN, kind.stream("-q", "-d", *options, input=seal(*slots)).out)
    expect_same(PLAIN, kind.stream("-d", "-k", "x25519", input=seal(mine, of_x25519)).out)
    both = secret_file("both", b"".join(pathlib.Path(name).read_bytes() for name in ("x25519", people.files[0])))
    expect_same(PLAIN, kind.stream("-d", "-k", both, input=seal(mine)).out)
    expect_same(PLAIN, kind.stream("-d", "-k", people.files[0], "-k", key, input=seal(own_key)).out)


def test_refused(kind, people, key):
    mine = people.slot(FILE_KEY, people.publics[0])
    passphrase = sf.passphrase_slot(FILE_KEY, b"correct horse", 10)
    secret_file("passphrase", b"correct horse\n")
    corrupt = "the input is corrupt at byte {}, in its header: {}; nothing was written"
    both = corrupt.format(20, "there are slots for both a passphrase and a recipient")
    modified = corrupt.format(20 + kind.slot_size, "the header or its MAC was modified")
    for status, data, options, error, hint, secret in (
        (3, seal(mine), "-k identity1", NONE, OTHER_KEYS, people.secrets[1]),
        (3, seal(mine), f"-k {key}", NO_IDENTITY[kind.name], WITH_K, {"key": KEY}),
        (3, seal(mine), "--passphrase-file passphrase", NO_IDENTITY[kind.name], WITH_K,
         {"passphrase": b"correct horse"}),
        (3, sf.seal(PLAIN, [KEY]), "", "the input was encrypted with a key file, and none was given",
         "name the key file with -k", {}),
        (3, seal(passphrase), "", "the input was encrypted with a passphrase, and none was given",
         "use -p to enter the passphrase, or --passphrase-file FILE to read it from a file", {}),
        (3, seal(mine, sf.key_slot(FILE_KEY, KEY)), f"-k identity1 -k {secret_file('key2', OTHER_KEY)}",
         "none of the given secrets opens the input", OTHER_SECRETS, people.secrets[1]),
        (4, seal(people.slot(os.urandom(32), people.publics[0])), "", modified, AGAIN_OR_SALVAGE, {}),
        (4, seal(mine, mac=bytes(32)), "", modified, AGAIN_OR_SALVAGE, {}),
        (4, seal(mine, passphrase), "", both, "", {}),
    ):
        result = kind.stream("-q", "-d", *(options or "-k identity0").split(), input=data, status=status)
        assert (result.out, result.error, result.hint) == (b"", error, hint)
        assert damage.open_independently(data, **(secret or people.secrets[0])) == (status, b"")


def test_no_byte_of_a_slot_may_change(kind, people, batch):
    number, body = people.slot(FILE_KEY, people.publics[0])
    changed = [(number, flipped(body, i, bit=i % 8)) for i in range(len(body))]
    if kind.post_quantum:
        run, groups = kind.stream, [changed[at : at + 32] for at in range(0, len(changed), 32)]  # to save time
    else:
        run, groups = batch.stream, [[each] for each in changed]
    for slots in spread(groups, 10 if SANITIZED else len(groups)):
        assert run("-q", "-d", "-k", people.files[0], input=seal(*slots), status=3).error == NONE
        assert kind.post_quantum or damage.open_independently(seal(*slots), **people.secrets[0]) == (3, b"")


@pytest.mark.parametrize("kind", ["post-quantum"], indirect=True)
def test_post_quantum(kind, people):
    vectors = (TOP / "tests/vectors/xwing.inc").read_text().splitlines()
    vectors = [list(map(bytes.fromhex, line.strip('",').split())) for line in vectors if line.startswith('"')]
    assert len(vectors) == 3
    for seed, _, public, ciphertext, shared in vectors:
        assert (public, shared) == (sf.xwing.public_key(seed), sf.xwing.decapsulate(seed, ciphertext))

    def opened(data, identity, status=0):
        return kind.stream("-q", "-d", "-k", identity, input=data, status=status)

    old_file = TOP / "tests/fuzz/corpus/header/opens-x-wing-recipient-and-key"  # from the time when the slots were new
    assert opened(old_file.read_bytes(), "identity0").out == b"some text\n"
    mine = people.slot(FILE_KEY, people.publics[0])
    of_x25519 = sf.x25519_slot(FILE_KEY, sf.public_key(OTHER_KEY))
    for data, identity, error in ((seal(mine), "x25519", NO_POST_QUANTUM), (seal(of_x25519), "identity0", NO_X25519)):
        result = opened(data, identity, 3)
        assert (result.error, result.hint) == (error, WITH_K)
