"""--rekey replaces all slots of a sealed file: the new secrets open it and the old ones no longer do. The bytes after
the header stay the same. If it fails, it writes nothing."""

import functools
import os
import pathlib

import pytest

from processes import unfinished_files
from programs import KEY, expect_same, files_here, flipped, secret_file, some_bytes, stream

pytest.importorskip("cryptography")
import parts_format as pf  # noqa: E402
import sealed_format as sf  # noqa: E402
from damage import HEADER, open_independently  # noqa: E402
from parts_damage import HEAD, READERS  # noqa: E402

FILE_KEY = bytes(range(100, 132))
KEY_2 = bytes(32 - i for i in range(32))
IDENTITY = bytes(range(9, 41))
RECIPIENT = sf.to_text(sf.RECIPIENT, sf.public_key(IDENTITY))
WAYS = ("pipe", "file", "-o", "in place")


@pytest.fixture(autouse=True)
def secrets():
    for name, data in (("key2", KEY_2), ("key3", bytes(32)), ("identity", sf.to_text(sf.IDENTITY, IDENTITY).encode()),
                       ("list", RECIPIENT.encode()), ("words", b"correct horse"), ("other-words", b"battery staple")):
        secret_file(f"../{name}", data)


def rekey(way, before, *options, status=0):
    """The result, and the rekeyed file. Nothing is written if the exit status is not 0."""
    pathlib.Path("file").write_bytes(before)
    stat = os.stat("file")
    files = {"-o": ["-i", "file", "-o", "out"], "in place": ["-i", "file"]}.get(way, [])
    how = {"input": before, "via": way} if way in ("pipe", "file") else {}
    got = stream("-q", "--rekey", *options, *files, status=status, **how)
    if status != 0:
        assert got.out == b"" and files_here() == ["file"]
    assert unfinished_files() == []
    after = pathlib.Path("file").read_bytes()
    if way != "in place" or status != 0:
        expect_same(before, after, "the input")
        now = os.stat("file")
        assert (now.st_ino, now.st_mtime_ns) == (stat.st_ino, stat.st_mtime_ns)
    if files:
        assert got.out == b""
        if way == "-o" and status == 0:
            after = pathlib.Path("out").read_bytes()
            os.unlink("out")
        return got, after
    return got, got.out


# --- Whole streams -------------------------------------------------------------------------------------------------

# Options for a secret, and what the independent implementation needs.
OF_KEY = ["-k", "KEY"], {"key": KEY}
OF_KEY_2 = ["-k", "../key2"], {"key": KEY_2}
OF_IDENTITY = ["-k", "../identity"], {"identity": IDENTITY}
OF_WORDS = ["--passphrase-file", "../words"], {"passphrase": b"correct horse"}
OF_OTHER_WORDS = ["--passphrase-file", "../other-words"], {"passphrase": b"battery staple"}


@functools.cache
def old_slots():
    key, words = sf.key_slot(FILE_KEY, KEY), sf.passphrase_slot(FILE_KEY, b"correct horse", 10)
    return {"key": [key], "words": [words], "recipient": [sf.x25519_slot(FILE_KEY, sf.public_key(IDENTITY))],
            "several": [(5, b"unknown"), key, (0x7F, b""), words]}


# scrypt is slow, so only one old secret is replaced by new passphrases.
TO_KEY_2 = "--new-key ../key2", [OF_KEY_2], [1]
TO_RECIPIENT = f"-r {RECIPIENT}", [OF_IDENTITY], [3]
TO_BOTH = "-r @../list --new-key=../key2", [OF_IDENTITY, OF_KEY_2], [1, 3]
TO_WORDS = "--new-passphrase-file ../other-words", [OF_OTHER_WORDS], [2]
TO_ALL = ("--new-key ../key2 --new-key KEY --new-passphrase-file ../other-words", [OF_KEY_2, OF_KEY, OF_OTHER_WORDS],
          [1, 1, 2])


@pytest.mark.parametrize("size, suite, way, slots, old, new", [
    (0, 1, "pipe", "key", OF_KEY, TO_KEY_2),
    (0, 1, "file", "key", OF_KEY, TO_WORDS),
    (0, 1, "-o", "key", OF_KEY, TO_RECIPIENT),
    (0, 1, "in place", "key", OF_KEY, TO_BOTH),
    (40000, 1, "pipe", "key", OF_KEY, TO_ALL),
    (40000, 1, "file", "words", OF_WORDS, TO_KEY_2),
    (40000, 1, "-o", "words", OF_WORDS, TO_RECIPIENT),
    (40000, 1, "in place", "words", OF_WORDS, TO_BOTH),
    (16384, 2, "pipe", "recipient", OF_IDENTITY, TO_KEY_2),
    (16384, 2, "file", "several", OF_KEY, TO_KEY_2),
    (16384, 2, "-o", "several", OF_KEY, TO_RECIPIENT),
    (16384, 2, "in place", "several", OF_KEY, TO_BOTH),
], ids=lambda value: str(value)[:20])
def test_each_kind_of_slot(batch, key, size, suite, way, slots, old, new):
    def options(words):
        return [key if word == "KEY" else os.path.abspath(word) if word.startswith("../") else word for word in words]

    plain = some_bytes(size)
    before = sf.seal(plain, slots=old_slots()[slots], file_key=FILE_KEY, suite=suite)
    new_options, opening, kinds = new
    for each in {way} if 2 in kinds else {way, "pipe"}:
        got, after = rekey(each, before, *options(old[0]), *options(new_options.split()))
        assert got.err == ""
        slots, end = sf.parse_header(after)
        assert sorted(kind for kind, _ in slots) == kinds
        assert before[:17] == after[:17]
        expect_same(before[sf.parse_header(before)[1] + 32 :], after[end + 32 :], "bytes after the header's MAC")
        for secret, named in opening:
            assert open_independently(after, **named) == (0, plain)
            expect_same(plain, batch.stream("-q", "-d", *options(secret), input=after).out)
        if old not in opening:
            assert open_independently(after, **old[1]) == (3, b"")
            assert batch.stream("-q", "-d", *options(old[0]), input=after, status=3).out == b""


def test_the_same_key_gives_a_new_slot(key):
    plain = some_bytes(5000001)
    before = sf.seal(plain, [KEY])
    slots = {before[20:87]}
    for way in WAYS:
        _, after = rekey(way, before, "-k", key, "--new-key", key)
        expect_same(before[HEADER - 56 :], after[HEADER - 56 :], way)
        expect_same(plain, stream("-q", "-d", "-k", key, input=after).out)
        slots.add(after[20:87])
    assert len(slots) == 5


def test_segments_are_not_verified(key):
    sealed = sf.seal(some_bytes(40000), [KEY])
    for data in (flipped(sealed, HEADER + 100), sealed[:-1], sealed[: HEADER + 5], sealed[:HEADER], sealed + b"more"):
        got, after = rekey("pipe", data, "-k", key, "--new-key", "../key2")
        assert got.err == ""
        expect_same(data[HEADER - 56 :], after[HEADER - 56 :])
        assert open_independently(after, key=KEY_2) == open_independently(data)


# --- Files made of parts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["", "a label"])
@pytest.mark.parametrize("suite, size, count", [
    (pf.AES, 0, 1), (pf.AES, 100000, 4), (pf.KUZNYECHIK, 100, 3),
])
def test_parts(batch, key, suite, size, count, label):
    plain, key2 = some_bytes(size), os.path.abspath("../key2")
    before = pf.seal(plain, count, suite=suite, keys=[KEY], label=label.encode())
    options = ["--label", label] if label else []
    for way in WAYS:
        _, after = rekey(way, before, "-k", key, "--new-key", "../key2", *options)
        assert before[:17] == after[:17]
        expect_same(before[HEAD:], after[HEAD:], "frames")
        for via, reader in READERS.items():
            assert pf.outcome(reader(after, key=KEY_2, label=label.encode())) == (0, plain)
            expect_same(plain, batch.stream("-q", "-d", "-k", key2, *options, input=after, via=via).out)
        assert batch.stream("-q", "-d", "-k", key, *options, input=after, status=3).out == b""


def test_only_part_0_is_verified(key):
    data = pf.seal(some_bytes(50000), 3, keys=[KEY])
    damaged = flipped(data, len(data) - 1)
    expect_same(damaged[HEAD:], rekey("-o", damaged, "-k", key, "--new-key", "../key2")[1][HEAD:])


# --- Refused -------------------------------------------------------------------------------------------------------

GOOD, OTHER = (sf.seal(some_bytes(40000), [KEY]) for _ in range(2))
LABELED, PARTS = (pf.seal(some_bytes(50000), 3, keys=[KEY], label=label) for label in (b"right", b""))


@pytest.mark.parametrize("status, data, options", [
    (3, GOOD, "-k ../key3"),
    (3, GOOD, "--passphrase-file ../words"),
    (3, GOOD, "-k ../identity"),
    (3, flipped(GOOD, 40), "-k KEY"),  # a slot
    (4, flipped(GOOD, 19 + 67 + 5), "-k KEY"),  # the MAC
    (4, flipped(GOOD, HEADER - 56), "-k KEY"),  # the salt
    (4, flipped(GOOD, HEADER - 1), "-k KEY"),  # the commitment
    (4, GOOD[: HEADER - 56] + OTHER[HEADER - 56 :], "-k KEY"),
    (1, GOOD[:14] + b"2\n" + GOOD[16:], "-k KEY"),  # another version
    (1, flipped(GOOD, 16, bit=4), "-k KEY"),  # another suite
    (4, b"Salted__12345678and so on", "-k KEY"),  # the openssl format
    *((4, GOOD[:size], "-k KEY") for size in (15, 16, 20, 87, 119, HEADER - 1)),
    (4, LABELED, "-k KEY"),
    (4, LABELED, "-k KEY --label wrong"),
    (4, PARTS, "-k KEY --label right"),
    *((4, flipped(PARTS, HEAD + at), "-k KEY") for at in (0, 4, 8, 20, 50)),  # kind, number, of, salt, commitment
    *((4, PARTS[:size], "-k KEY") for size in (HEAD - 1, HEAD + 1, HEAD + 72)),
], ids=lambda value: len(value) if isinstance(value, bytes) else str(value))
def test_what_decryption_refuses_is_refused_alike(key, status, data, options):
    words = [key if word == "KEY" else word for word in options.split()]
    want = stream("-q", "-d", "-f", "sealed", *words, input=data, status=status)
    for way in "pipe", "in place":
        got, _ = rekey(way, data, *words, "--new-key", "../key2", status=status)
        name = "file: " if way == "in place" else ""
        assert got.error == name + want.error
        assert got.hint == want.hint or "it may have the new keys already" in got.hint and status == 3 and name
