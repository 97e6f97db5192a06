"""--rekey says how many slots or stanzas the file had, and how many it has now."""

import os
import pathlib

import pytest

from programs import keygen, secret_file, some_bytes, stream

pytest.importorskip("cryptography")
import age_format as age  # noqa: E402
from parts_steps import join, plan_and_seal  # noqa: E402

PLAIN = some_bytes(1000)


@pytest.fixture(autouse=True)
def secrets():
    """Key files, identities with the recipients NAME.pub, and a passphrase."""
    for name in "a", "b":
        secret_file(f"../{name}", os.urandom(32))
    for name in "me", "you":
        keygen("--x25519", "-o", f"../{name}")
    secret_file("../words", b"words are many")


def named(options):
    """With the secrets as absolute names."""
    return [os.path.abspath(f"../{word}") if os.path.exists(f"../{word}") else word for word in options.split()]


def seal(options, name="file"):
    stream("-q", *named(options), "-o", name, input=PLAIN)


def rekey(options, name="file"):
    """The notes."""
    result = stream("--rekey", *named(options), name)
    assert result.out == b""
    return result.notes


@pytest.mark.parametrize("old, options, counts", [
    ("-k a -k b --passphrase-file words", "-k a --new-key a", "3 slots before, 1 now"),
    ("-k a", "-k a --new-key a --new-key b --new-passphrase-file words", "1 slot before, 3 now"),
    ("-k a -R me.pub", "-k me --new-key b -R you.pub -R me.pub", "2 slots before, 3 now"),
    ("-R me.pub -R you.pub", "-k me -R me.pub", "2 stanzas before, 1 now"),
    ("-f age --passphrase-file words", "--passphrase-file words -R me.pub -R you.pub", "1 stanza before, 2 now"),
])
def test_how_many_there_were_and_are(old, options, counts):
    seal(old)
    assert rekey(options) == [f"file: {counts}"]
    noun = counts.split()[1].removesuffix("s")
    assert f"\n{noun} {counts.split()[-2]}".encode() in stream("--info", "file").out


def test_stanzas_for_no_key_count():
    file_key = os.urandom(16)
    secret_file("../me", age.identity_text().encode())
    pathlib.Path("file").write_bytes(age.seal(PLAIN, [age.x25519_stanza(file_key), (["a-grease", "x"], b"2")], file_key))
    assert rekey("-k me -R you.pub") == ["file: 2 stanzas before, 1 now"]


def test_every_way_to_write_the_file():
    seal("-k a -k b")
    options, said = named("--rekey -k a --new-key a"), "2 slots before, 1 now"
    assert stream(*options, "file", "-o", "out").notes == [f"out: {said}"]
    assert stream(*options, "-a", "file", "-o", "armor").notes == [f"armor: {said}"]
    assert stream(*options, input=pathlib.Path("file").read_bytes()).notes == [f"standard output: {said}"]
    seal("-a -k a -k b", "armored")
    assert rekey("-k a --new-key a", "armored") == [f"armored: {said}"]
    assert rekey("-q -k a --new-key b", "armored") == []


def test_files_in_parts():
    plan_and_seal("../a", PLAIN, 3, "dir", "-k", "../b")
    join("dir", "-o", "joined")
    for name in "dir", "joined":
        assert rekey("-k a --new-key a", name) == [f"{name}: 2 slots before, 1 now"]
