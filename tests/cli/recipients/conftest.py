"""Fixtures of the tests of recipients: the two kinds of them."""

import functools
import pathlib
import types

import pytest

import programs


@pytest.fixture(params=["x25519", "post-quantum"])
def kind(request):
    """A kind of recipients, with ways to run the programs, and the number of bytes that a slot adds to a header."""
    name, post_quantum = request.param, request.param == "post-quantum"
    wrap = request.getfixturevalue("ml_kem") if post_quantum else ()
    return types.SimpleNamespace(
        name=name,
        wrap=wrap,
        post_quantum=post_quantum,
        slot_size=1171 if post_quantum else 83,
        stream=functools.partial(programs.stream, wrap=wrap),
        keygen=functools.partial(programs.keygen, wrap=wrap),
        parts=functools.partial(programs.parts, wrap=wrap),
    )


@functools.cache
def new_pair(i, name, wrap):
    """The contents of an identity file and the recipient."""
    identity = programs.keygen(f"--{name}", wrap=wrap).out
    return identity, identity.splitlines()[1].removeprefix(b"# public key: ") + b"\n"


@pytest.fixture
def identities(kind):
    """The names of four identity files, identity0 to identity3. Their recipients are in recipient0 to recipient3."""
    for i in range(4):
        identity, recipient = new_pair(i, kind.name, kind.wrap)
        programs.secret_file(f"identity{i}", identity)
        pathlib.Path(f"recipient{i}").write_bytes(recipient)
    return [f"identity{i}" for i in range(4)]
