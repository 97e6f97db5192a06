"""Fixtures of the tests of parts."""

import pytest

from parts_steps import join, plan_and_seal
from programs import some_bytes


@pytest.fixture
def sealed(key):
    """The directory `dir` with three parts of 100,000 bytes of plaintext, not joined."""
    plan_and_seal(key, some_bytes(100_000), 3, "dir")


@pytest.fixture
def joined(sealed):
    join("dir")
