"""The options of gpuaes-keygen, and -y, which prints the recipients of identities."""

import pathlib
import re

import pytest

from programs import AN_IDENTITY, files_here, keygen, secret_file

HELP = "run with --help for a list of options"
NAME = "use -o FILE to write to a file, or -y FILE to print its recipients"


@pytest.fixture(scope="module")
def identities():
    """The contents of two identity files, and their recipients."""
    made = [keygen("--x25519") for _ in range(2)]
    return [each.out.decode() for each in made], [each.err for each in made]


def test_an_identity_and_its_recipient(identities):
    for identity, recipient in zip(*identities):
        assert re.fullmatch("age1[02-9ac-hj-np-z]{58}\n", recipient)
        comments = f"# created: [-0-9]{{10}}T[:0-9]{{8}}Z\n# public key: {recipient}"
        assert re.fullmatch(comments + "AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}\n", identity)
    assert identities[1][0] != identities[1][1]


def test_the_recipient_is_printed_again(identities):
    (identity, _), (recipient, _) = identities
    secret_file("identity", identity.encode())
    assert keygen("--recipient=identity").out.decode() == recipient
    assert keygen("-y", "/dev/stdin", input=pathlib.Path("identity").read_bytes()).out.decode() == recipient
    pathlib.Path("identity").chmod(0o644)
    found = keygen("-y", "identity")
    assert found.out.decode() == recipient
    assert found.warnings == ["identity is readable by other users; run chmod 600 identity"]


def test_several_identities_and_comments(identities):
    (first, second), recipients = identities
    secret_file("several", f"# all of them\n{first}\n{second}{first}".encode())
    found = keygen("-y", "several")
    assert (found.out.decode(), found.err) == ("".join(recipients) + recipients[0], "")


@pytest.mark.parametrize("options, error, hint", [
    ("-x", "unknown option '-x'", HELP),
    ("--no-such-option", "unknown option '--no-such-option'", HELP),
    ("--outputs=other", "unknown option '--outputs'", "perhaps you meant --output"),
    ("-d", "unknown option '-d'", HELP),
    ("-k", "unknown option '-k'", HELP),
    ("-o", "option '--output' requires a value",
     "--output FILE: Write to FILE, which must not exist; only its owner can read it"),
    ("-o one -o two", "option '--output' cannot be specified more than once", HELP),
    ("stray", "a file name requires -o or -y", NAME),
    ("-o one stray", "a file name requires -o or -y", NAME),
    ("-- stray", "a file name requires -o or -y", NAME),
    ("--x25519 stray", "a file name requires -o or -y", NAME),
    ("--x25519 -y identity", "--recipient and --x25519 cannot be used together", ""),
    ("-y identity -o other", "--recipient and --output cannot be used together", ""),
    ("-y", "option '--recipient' requires a value", "--recipient FILE: Print the recipients of the identities in FILE"),
    ("-y IDENTITY", "an identity was given instead of the name of its file",
     "other users may have seen this command line; make a new identity with gpuaes-keygen --x25519 or --post-quantum"),
    ("-y RECIPIENT", "a recipient was given instead of a file name",
     "use gpuaes-stream -r for recipients; keys and identities are read from files"),
    ("-y missing", "cannot open missing: No such file or directory", ""),
    ("-y KEY", "line 1 of KEY is not an identity", AN_IDENTITY),
    ("-y recipient", "line 1 of recipient is a recipient, not an identity", "put recipients in a file of their own"),
    ("-y comment", "comment contains no identity", AN_IDENTITY),
    ("-y shortened", "line 3 of shortened is not a valid identity: it has 70 characters instead of 74", AN_IDENTITY),
    ("-y incomplete", "line 10 of incomplete is not a valid identity: it has 70 characters instead of 74", AN_IDENTITY),
    ("-y /dev/zero", "/dev/zero is longer than 1048576 bytes, which is too long for a file of keys or recipients", ""),
])  # fmt: skip
def test_an_error(identities, key, options, error, hint):
    (first, second), recipients = identities
    secret_file("identity", first.encode())
    pathlib.Path("recipient").write_text(recipients[0])
    pathlib.Path("shortened").write_text(first[:-5])
    secret_file("comment", b"# nothing\n")
    secret_file("incomplete", f"# both\n{first}{second}{first[:-5]}".encode())
    files = files_here()
    values = {"IDENTITY": first.splitlines()[-1], "RECIPIENT": recipients[0].strip(), "KEY": key}
    found = keygen(*(values.get(word, word) for word in options.split()), status=1 if "missing" in options else 2)
    assert (found.error, found.hint) == (error.replace("KEY", key), hint)
    warning = "shortened is readable by other users; run chmod 600 shortened"
    assert found.warnings == ([warning] if "shortened" in options else [])
    assert not re.search("SECRET-KEY-1[a-z0-9]", found.err, re.I) and files_here() == files


@pytest.mark.parametrize("option", ["-h", "--help", "-V", "--version"])
def test_help_and_version(option):
    assert b"gpuaes-keygen" in keygen(option).out
