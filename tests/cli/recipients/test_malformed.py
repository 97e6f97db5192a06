"""A malformed recipient or identity is a usage error that names the problem, before anything is read or written.
Messages never show an identity."""

import os
import pathlib

import pytest

from programs import AN_IDENTITY, KEY, secret_file, stream

A_RECIPIENT = "a recipient is the line that gpuaes-keygen -y prints for an identity"
NOT_TO_OPEN = "use -R FILE to encrypt for the recipients in a file; to decrypt, name an identity file with -k"
GIVEN = "an identity was given instead of the name of its file"
NEW_IDENTITY = (
    "other users may have seen this command line; make a new identity with gpuaes-keygen --x25519 or --post-quantum"
)
AGE_IDENTITY = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
LOW_ORDER = [
    "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z",  # 0
    "age1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqj7vrya",  # 1
    "age1anlllllllllllllllllllllllllllllllllllllllllllllllals4n2t7m",  # 2^255 - 20
]
NOT_CANONICAL = [
    "age1ahlllllllllllllllllllllllllllllllllllllllllllllllalsn46ayy",  # 2^255 - 19
    "age1lllllllllllllllllllllllllllllllllllllllllllllllllllskxlyh4",  # 2^256 - 1
]
UNUSED_BITS = "age1gfpyysjzgfpyysjzgfpyysjzgfpyysjzgfpyysjzgfpyysjzgfppmq0j58"


@pytest.fixture
def pair(kind):
    """A recipient and its identity, which are also in files of these names."""
    pathlib.Path("recipient").write_bytes(kind.keygen(f"--{kind.name}", "-o", "identity").out)
    return [pathlib.Path(name).read_text().splitlines()[-1] for name in ("recipient", "identity")]


def expect_refused(error, hint, *options, status=2, run=stream):
    result = run(*options, "-o", "out", status=status)
    assert (result.error, result.hint, result.warnings) == (error, hint, [])
    assert not os.path.exists("out")


def swap(text, at):
    """The text with another character at that index."""
    other = "p" if text[at] in "qQ" else "q"
    return text[:at] + (other.upper() if text.isupper() else other) + text[at + 1 :]


def test_recipients(kind, pair):
    good, identity = pair
    prefix = good[: good.rindex("1") + 1]
    for text, problem in (
        *((swap(good, at), "its checksum is wrong; check for typing errors")
          for at in (len(prefix), 20, 58, len(good) - 1)),
        *((text, f"it has {len(text)} characters instead of {len(good)}")
          for text in (good[:-1], good[:50], prefix, good + "q", f"{good} {good}")),
        ("A" + good[1:], "it mixes uppercase and lowercase letters"),
        (good[:40] + "b" + good[41:], "it contains an invalid character"),
    ):
        shown = text if len(text) <= 66 else text[:40] + "..."
        expect_refused(f"-r {shown} is not a valid recipient: {problem}", A_RECIPIENT, "-r", text, run=kind.stream)
    for text in (identity, identity.lower(), identity[:50]):
        error = "the argument of --recipient is a secret identity, not a recipient"
        expect_refused(error, A_RECIPIENT, "-r", text, run=kind.stream)
    error = "the argument of --recipient is not a recipient: it does not begin with age1 or ssh-"
    for words in (good[1:],), ("age2" + good[4:],), ("",), ("alice",), (KEY.hex(),), (good, "-r", "alice"):
        expect_refused(error, A_RECIPIENT, "-r", *words, run=kind.stream)
    for name in ("recipient", "identity"):
        error = f"-r {name} is the name of a file, not a recipient"
        expect_refused(error, "use -R FILE to encrypt for the recipients in a file", "-r", name, run=kind.stream)


@pytest.mark.parametrize("text, error, hint", [
    *((text, f"recipient {text} contains a low-order X25519 point",
       "a file that is sealed for it is not protected by X25519; ask for another recipient") for text in LOW_ORDER),
    *((text, f"-r {text} is not a valid recipient: it is not the canonical form of a public key", A_RECIPIENT)
      for text in NOT_CANONICAL),
    (UNUSED_BITS, f"-r {UNUSED_BITS} is not a valid recipient: its unused bits are not zero", A_RECIPIENT),
])  # fmt: skip
def test_recipients_that_are_not_keys(key, text, error, hint):
    expect_refused(error, hint, "-k", key, "-r", text)


def test_files_of_recipients(kind, pair):
    good, identity = pair
    length = f"characters instead of {len(good)}"
    for lines, problem, hint in (
        (["# all of us", good, "", good[:50]],
         f"line 4 of list is not a valid recipient: it has 50 {length}", A_RECIPIENT),
        ([good, swap(good, 30), good],
         "line 2 of list is not a valid recipient: its checksum is wrong; check for typing errors", A_RECIPIENT),
        ([f"{good} {good}"],
         f"line 1 of list is not a valid recipient: it has {2 * len(good) + 1} {length}", A_RECIPIENT),
        ([identity], "line 1 of list is a secret identity, not a recipient", A_RECIPIENT),
        (["# mine", AGE_IDENTITY], "line 2 of list is a secret identity, not a recipient", A_RECIPIENT),
        (["", "# empty", " "], "list contains no recipients", A_RECIPIENT),
        ([], "list contains no recipients", A_RECIPIENT),
    ):
        pathlib.Path("list").write_text("\n".join(lines))
        expect_refused(f"--recipients-file: {problem}", hint, "-r", "@list", run=kind.stream)


@pytest.mark.parametrize("name, status, error", [
    ("list", 2, "list is longer than 1048576 bytes, which is too long for a file of keys or recipients"),
    ("/dev/zero", 2, "/dev/zero is longer than 1048576 bytes, which is too long for a file of keys or recipients"),
    ("missing", 1, "cannot open missing: No such file or directory"),
    ("", 1, "cannot open '': No such file or directory"),
    (".", 1, "cannot read .: Is a directory"),
])
def test_what_is_not_a_file_of_recipients(name, status, error):
    secret_file("list", b"#" * 2000000)
    expect_refused(f"--recipients-file: {error}", "", "-r", f"@{name}", status=status)
    if name == "list":
        expect_refused(f"--key: {error}", "", "-d", "-k", "list")


def test_files_of_identities(kind, pair):
    recipient, good = pair
    length = f"characters instead of {len(good)}"
    for lines, problem, hint in (
        ([swap(good, 30)],
         "line 1 of bad is not a valid identity: its checksum is wrong; check for typing errors", AN_IDENTITY),
        ([good[:60]], f"line 1 of bad is not a valid identity: it has 60 {length}", AN_IDENTITY),
        ([good + "Q"], f"line 1 of bad is not a valid identity: it has {len(good) + 1} {length}", AN_IDENTITY),
        ([good * 2], f"line 1 of bad is not a valid identity: it has {2 * len(good)} {length}", AN_IDENTITY),
        ([good, good[:60]], f"line 2 of bad is not a valid identity: it has 60 {length}", AN_IDENTITY),
        (["# mine", "age" + good[3:]],
         "line 2 of bad is not a valid identity: it mixes uppercase and lowercase letters", AN_IDENTITY),
        ([good[:40] + "B" + good[41:]],
         "line 1 of bad is not a valid identity: it contains an invalid character", AN_IDENTITY),
        ([good, "# mine", "", "and more"], "line 4 of bad is not an identity", AN_IDENTITY),
        (["# mine", good, recipient], "line 3 of bad is a recipient, not an identity",
         "put recipients in a file of their own"),
        (["", recipient, good], "bad contains a recipient, not a key", NOT_TO_OPEN),
        (["# recipients", recipient, good], "bad contains a recipient, not a key", NOT_TO_OPEN),
        (["# nothing"], "bad contains no identity", AN_IDENTITY),
    ):
        secret_file("bad", "".join(f"{line}\n" for line in lines).encode())
        expect_refused(f"--key: {problem}", hint, "-d", "-k", "bad", run=kind.stream)


def test_in_place_of_the_name_of_a_key_file(kind, pair):
    recipient, identity = pair
    for text in (identity, identity.lower(), AGE_IDENTITY):
        expect_refused(f"--key: {GIVEN}", NEW_IDENTITY, "-d", "-k", text, run=kind.stream)
    expect_refused(f"--passphrase-file: {GIVEN}", NEW_IDENTITY, "-d", "--passphrase-file", identity, run=kind.stream)
    expect_refused("--key: a recipient was given instead of a file name",
                   "use gpuaes-stream -r for recipients; keys and identities are read from files", "-k", recipient,
                   run=kind.stream)
