"""Fixtures of the tests of age files."""

import age_format as age
import programs

import pytest


@pytest.fixture
def identity(work):
    """The name of an identity file, for age.RECIPIENT."""
    return programs.secret_file(work.parent / "identity", (age.identity_text() + "\n").encode())
