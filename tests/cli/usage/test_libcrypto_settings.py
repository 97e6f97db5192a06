"""If the settings of libcrypto disable what a run needs, a hint says how to change them."""

import os
import pathlib

import pytest

from programs import IV, keygen, some_bytes, stream

SETTINGS = """openssl_conf = all
[all]
providers = list
[list]
base = base
[base]
activate = 1
"""
HINT = "activate the default provider in openssl.cnf, or set OPENSSL_CONF=/dev/null"


def test_settings_without_the_default_provider(key):
    pathlib.Path("openssl.cnf").write_text(SETTINGS)
    restricted = {**os.environ, "OPENSSL_CONF": f"{os.getcwd()}/openssl.cnf"}
    if stream("-k", key, env=restricted, status=None).status == 0:
        pytest.skip("libcrypto reads no settings")
    sealed = stream("-k", key, input=some_bytes(1000)).out
    for run, options in ((stream, ["-k", key]), (stream, ["-d", "-k", key]), (stream, ["-t", "-k", key]),
                         (stream, ["-q", "-k", key, "-f", "raw", "--iv", IV]), (keygen, ["--x25519"])):
        found = run(*options, input=sealed, env=restricted, status=1)
        assert found.error.endswith("unsupported") and found.hint == HINT
        run(*options, input=sealed, env={**restricted, "OPENSSL_CONF": "/dev/null"})
