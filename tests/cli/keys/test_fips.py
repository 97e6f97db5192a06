"""With OpenSSL's FIPS provider, key files work, for sealed files and parts. What needs other algorithms fails."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import programs
from age_format import identity_text
from programs import overwrite, secret_file, some_bytes, sparse, stream

TOOLS = pathlib.Path(__file__).parents[3] / "build/tools/openssl"
MODULES = TOOLS if (TOOLS / "ld.so").exists() else pathlib.Path(f"/usr/lib/{sys.implementation._multiarch}/ossl-modules")
PLAIN = some_bytes(300_000)
# libgcrypt is faster than libcrypto without AES instructions, AVX and what came later.
SLOW = "~0x1200000000000000:~0xD0230020"

pytestmark = pytest.mark.skipif(not (MODULES / "fips.so").exists(), reason="there is no FIPS provider")


@pytest.fixture(params=["fips=yes", ""])
def fips(request, work, monkeypatch):
    """How programs are run with the FIPS provider and the base provider; with or without the default property."""
    wrap = (programs.WITH_ML_KEM,)
    settings = f"[algorithms]\ndefault_properties = {request.param}\n" if request.param else "[algorithms]\n"
    (work.parent / "openssl.cnf").write_text(f"""openssl_conf = init
.include {work.parent}/fips.cnf
[init]
providers = providers
alg_section = algorithms
[providers]
fips = fips_sect
base = base
[base]
activate = 1
{settings}""")
    install = ["openssl", "fipsinstall", "-module", MODULES / "fips.so", "-out", work.parent / "fips.cnf"]
    subprocess.run([*wrap, *install], check=True, capture_output=True)
    monkeypatch.setenv("OPENSSL_MODULES", str(MODULES))
    monkeypatch.setenv("OPENSSL_CONF", str(work.parent / "openssl.cnf"))
    listed = subprocess.run([*wrap, "openssl", "list", "-providers"], check=True, capture_output=True, text=True).stdout
    assert "FIPS" in listed and "Default" not in listed
    monkeypatch.delenv("OPENSSL_CONF")
    return ("env", f"OPENSSL_CONF={work.parent / 'openssl.cnf'}", *wrap)


def test_key_files(fips, key):
    programs.keygen("-o", "new.key", wrap=fips)
    stream("-k", key, "--label", "monday", "-o", "sealed", input=PLAIN, wrap=fips)
    stream("--rekey", "-q", "-k", key, "--label", "monday", "--new-key", "new.key", "sealed", wrap=fips)
    assert stream("-d", "-k", "new.key", "--label", "monday", "sealed", wrap=fips).out == PLAIN
    assert stream("--range", "100000:10", "-k", "new.key", "--label", "monday", "sealed", wrap=fips).out == PLAIN[100_000:100_010]
    overwrite("sealed", -1, b"x")
    stream("--test", "-k", "new.key", "--label", "monday", "sealed", status=4, wrap=fips)


def test_parts(fips, key):
    pathlib.Path("plain").write_bytes(PLAIN)
    for command in (["plan", "-k", key, "-n", "1", "-o", "dir", "plain"], ["seal", "dir", "--part", "0"], ["join", "dir"]):
        programs.run("gpuaes-parts", *command, wrap=fips)
    assert stream("-d", "-k", key, "dir", wrap=fips).out == PLAIN


@pytest.mark.parametrize("fips", ["fips=yes"], indirect=True)
def test_other_algorithms_are_errors(fips, key):
    secret_file("identity", identity_text().encode())
    secret_file("words", b"correct horse\n")
    pathlib.Path("recipient").write_bytes(programs.keygen("-y", "identity").out)
    age = stream("-R", "recipient", input=PLAIN).out
    for options, data in ((["--passphrase-file", "words"], PLAIN), (["-R", "recipient"], PLAIN), (["-d", "-k", "identity"], age),
                          (["-k", key, "-R", "recipient"], PLAIN)):
        result = stream("-q", *options, "-o", "out", input=data, status=1, wrap=fips)
        assert re.fullmatch(r"libcrypto: EVP_\w+: unsupported", result.error), options
        assert "activate the default provider" in result.hint and not os.path.exists("out")


def test_data_is_encrypted_by_the_provider_and_not_by_libgcrypt(fips, key, monkeypatch):
    monkeypatch.setenv("OPENSSL_ia32cap", SLOW)
    sparse("plain", 71 << 20)
    result = stream("-v", "-k", key, "-o", "sealed", "plain", wrap=fips)
    assert not [note for note in result.notes if "libgcrypt" in note]
