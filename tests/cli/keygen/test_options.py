"""gpuaes-keygen -y prints the recipients of identities."""

import pathlib

import pytest

from programs import keygen, secret_file


@pytest.fixture(scope="module")
def identities():
    """The contents of two identity files, and their recipients."""
    made = [keygen("--x25519") for _ in range(2)]
    return [each.out.decode() for each in made], [each.err for each in made]


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
