"""Fixtures of the tests of ssh keys."""

import functools

import pytest

import ssh_keys

make_once = functools.cache(ssh_keys.make)  # RSA keys take long


@pytest.fixture
def ed25519(work):
    """A key in the files ed25519 and ed25519.pub."""
    return ssh_keys.write("ed25519", make_once("ed25519"))


@pytest.fixture
def rsa(work):
    return ssh_keys.write("rsa", make_once(2048))


@pytest.fixture(params=["ed25519", "rsa"])
def each(request):
    """A key of each type."""
    return request.getfixturevalue(request.param)
