"""Fixtures of the tests of age plugins."""

import os

import pytest

pytest.importorskip("cryptography")
import age_plugin  # noqa: E402
import programs  # noqa: E402
import sealed_format as sf  # noqa: E402


@pytest.fixture
def folder(work, monkeypatch):
    """A directory at the beginning of PATH."""
    (work.parent / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{work.parent}/bin:{os.environ['PATH']}")
    return work.parent / "bin"


@pytest.fixture
def plugin(folder):
    """Installs the plugin `test` with that code."""
    return lambda code="serve()": age_plugin.install(folder, code=code)


@pytest.fixture
def recipient():
    return sf.to_text("age1test", age_plugin.DATA)


@pytest.fixture
def identity(work):
    """The name of an identity file for that recipient."""
    text = sf.to_text("AGE-PLUGIN-TEST-", age_plugin.DATA)
    return programs.secret_file(work.parent / "identity", f"# a test\n{text}\n".encode())
