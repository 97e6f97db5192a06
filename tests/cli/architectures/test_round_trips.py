"""Programs built for this machine open files made by programs for another architecture, and vice versa. The latter run in
an emulator, with pages of 4 and 64 KiB. GPUAES_NATIVE_PROGRAMS is the folder of the former."""

import os
import pathlib
import shutil
import subprocess

import pytest

from programs import FOLDER, IV, PATIENCE, expect_same, secret_file, some_bytes

NATIVE = os.environ.get("GPUAES_NATIVE_PROGRAMS")
pytestmark = pytest.mark.skipif(not NATIVE, reason="not a build for another architecture")

SIZES = [0, 1, 16384, 65536, 65537, 3000001]
FORMS = {
    "sealed": [],
    "kuznyechik": ["-c", "kuznyechik"],
    "armor": ["-a"],
    "raw": ["-f", "raw", "--iv", IV],
    "raw kuznyechik": ["-f", "raw", "-c", "kuznyechik", "--iv", IV[:16]],
}
DIRECTIONS = pytest.mark.parametrize("emulated_seals", [True, False], ids=["from emulated", "to emulated"])


def native(program, *options, input=b""):
    return run(pathlib.Path(NATIVE).resolve() / program, options, input, None)


def run(program, options, input, environment):
    done = subprocess.run([program, *options], input=input, capture_output=True, env=environment, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(params=[4096, 65536], ids=["4 KiB", "64 KiB"])
def emulated(request):
    """Runs a program in the emulator, with pages of this size."""
    environment = {**os.environ, "GPUAES_EMULATOR_OPTIONS": f"-p {request.param}"}
    return lambda program, *options, input=b"": run(FOLDER / program, options, input, environment)


@DIRECTIONS
@pytest.mark.parametrize("form", FORMS)
def test_a_key(key, emulated, emulated_seals, form):
    seal, unseal = (emulated, native) if emulated_seals else (native, emulated)
    options = ["gpuaes-stream", "-q", "-k", key]
    raw = FORMS[form] if "raw" in form else []
    for size in SIZES:
        plain = some_bytes(size)
        sealed = seal(*options, *FORMS[form], input=plain)
        expect_same(plain, unseal(*options, "-d", *raw, input=sealed), size)


@DIRECTIONS
@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed")
def test_recipients(emulated, emulated_seals):
    seal, unseal = (emulated, native) if emulated_seals else (native, emulated)
    unseal("gpuaes-keygen", "--x25519", "-o", "identity")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "ssh"], check=True)
    for form, identities in ("sealed", ["identity"]), ("age", ["identity", "ssh"]):
        recipients = [option for identity in identities for option in ("-R", f"{identity}.pub")]
        for size in SIZES:
            plain = some_bytes(size)
            sealed = seal("gpuaes-stream", "-q", "-f", form, *recipients, input=plain)
            for identity in identities:
                expect_same(plain, unseal("gpuaes-stream", "-q", "-d", "-k", identity, input=sealed), (identity, size))


@DIRECTIONS
def test_a_passphrase(emulated, emulated_seals):
    seal, unseal = (emulated, native) if emulated_seals else (native, emulated)
    secret_file("passphrase", b"a passphrase\n")
    options = ["gpuaes-stream", "-q", "--passphrase-file", "passphrase"]
    expect_same(b"plain", unseal(*options, "-d", input=seal(*options, input=b"plain")))


@DIRECTIONS
def test_parts_of_both(key, emulated, emulated_seals):
    plans, seals = (emulated, native) if emulated_seals else (native, emulated)
    pathlib.Path("plain").write_bytes(some_bytes(3000001))
    plans("gpuaes-parts", "plan", "-q", "-k", key, "-n", "2", "-o", "sealed", "plain")
    for part, seal in enumerate((plans, seals)):
        seal("gpuaes-parts", "seal", "-q", "sealed", "--part", str(part))
    seals("gpuaes-parts", "join", "-q", "sealed")
    for unseal in plans, seals:
        expect_same(some_bytes(3000001), unseal("gpuaes-stream", "-q", "-d", "-k", key, "sealed"))
