"""gpuaes-keygen -y prints the recipients of identities."""

import pathlib
import re

import pytest

from programs import keygen, secret_file


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


@pytest.mark.parametrize("option", ["-h", "--help", "-V", "--version"])
def test_help_and_version(option):
    assert b"gpuaes-keygen" in keygen(option).out
