"""With a libcrypto that has no ML-KEM, post-quantum recipients cannot be used, and their slots are skipped: other
secrets still open the file, and if none does, the message names the slots that were not tried."""

import os
import pathlib
import subprocess

import pytest

from programs import KEY, files_here, keygen, parts, secret_file, stream

pytest.importorskip("cryptography")
import age_format as age  # noqa: E402
import sealed_format as sf  # noqa: E402

HINT = "use the .tar.gz or the wheel, which contain a newer libcrypto, or a newer system"


@pytest.fixture
def lacks():
    """The error. Writes identities, a recipient whose slots no one can open, and files sealed for it and others."""
    if keygen("--post-quantum", status=None).status == 0:
        pytest.skip("libcrypto has ML-KEM")
    secret_file("identity", sf.to_text(sf.PQ_IDENTITY, bytes(range(32))).encode() + b"\n")
    secret_file("x25519", sf.to_text(sf.IDENTITY, KEY).encode() + b"\n")
    pathlib.Path("recipient").write_text(sf.to_text(sf.PQ_RECIPIENT, bytes(1216)) + "\n")
    file_key, slot = os.urandom(32), (4, b"\x09" * 1168)
    of_x25519 = sf.x25519_slot(file_key, sf.public_key(KEY))
    for name, slots in (
        ("sealed", [slot]),
        ("with-key", [slot, sf.key_slot(file_key, KEY), slot]),
        ("with-x25519", [slot, of_x25519]),
    ):
        pathlib.Path(name).write_bytes(sf.seal(b"plaintext", file_key=file_key, slots=slots))
    version = subprocess.run(["openssl", "version"], capture_output=True, text=True).stdout.split()[1]
    return f"a post-quantum recipient or identity needs OpenSSL 3.5 or newer; this system has {version}"


def test_they_cannot_be_used(lacks):
    before = files_here()
    text = pathlib.Path("recipient").read_text().strip()
    for result, where in (
        (stream("-R", "recipient", "-i", "x25519", "-o", "out", status=1), "--recipients-file: "),
        (parts("plan", "-R", "recipient", "-o", "out", status=1), "--recipients-file: "),
        (stream("-r", text, "-i", "x25519", "-o", "out", status=1), ""),
        (keygen("--post-quantum", "-o", "out", status=1), ""),
        (keygen("--post-quantum", status=1), ""),
        (keygen("-y", "identity", status=1), "--recipient: "),
    ):
        assert (result.out, result.error, result.hint) == (b"", where + lacks, HINT)
    assert files_here() == before


@pytest.mark.parametrize("options, error, hint", [
    ("-k identity -i sealed", "sealed: no slot opens the input, but slot 1 could not be tried: LACKS", HINT),
    ("-k identity -k x25519 -i with-key",
     "with-key: no slot opens the input, but slots 1, 3 could not be tried: LACKS", HINT),
    ("-k x25519 -i sealed",
     "sealed: the input was encrypted for a post-quantum recipient, and no post-quantum identity was given",
     "name the identity file with -k"),
])
def test_no_slot_opens(lacks, options, error, hint):
    result = stream("-d", *options.split(), status=3)
    assert (result.error, result.hint) == (error.replace("LACKS", lacks), hint)


def test_the_slots_are_skipped(lacks, key):
    assert "\nslot 1         X-Wing recipient\n" in stream("--info", "sealed").out.decode()
    for options in ("-k KEY -i with-key", "-k identity -k KEY -i with-key", "-k identity -k x25519 -i with-x25519"):
        options = options.replace("KEY", key)
        assert stream("-d", *options.split()).out == b"plaintext"


def test_age_files(lacks, key):
    """Another stanza still opens a file. If there is none, the error says what is missing."""
    file_key, stanza = bytes(16), (["mlkem768x25519", age.b64(bytes(1120))], bytes(32))
    of_x25519 = age.x25519_stanza(file_key, sf.public_key(KEY))
    for name, stanzas in ("post-quantum", [stanza]), ("with-x25519", [stanza, of_x25519]):
        pathlib.Path(name).write_bytes(age.seal(b"plaintext", stanzas, file_key))
    assert stream("-d", "-k", "identity", "-k", "x25519", "with-x25519").out == b"plaintext"
    result = stream("-d", "-k", "identity", "post-quantum", status=1)
    assert (result.error, result.hint) == (lacks, HINT)
