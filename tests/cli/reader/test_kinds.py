"""SealedFile opens files of each kind with secrets of each kind, and says what it does not support."""

import io
import os
import pathlib
import subprocess

import pytest

import parts_steps
from programs import FOLDER, INSTALLED, KEY, keygen, secret_file, some_bytes, stream

pytest.importorskip("cryptography")
import age_format as af  # noqa: E402
import armor  # noqa: E402
import parts_format as pf  # noqa: E402
import sealed_format as sf  # noqa: E402
from sources import KINDS, PLAIN, READER, SEGMENT, make, opened, seal, seal_in_parts  # noqa: E402
from sealedfile import NotAuthentic, NotSupported, SealedFile, SealedFileError, WrongKey  # noqa: E402

IDENTITY = af.identity_text().encode()


def refuse(error, text, sealed, **secret):
    with pytest.raises(error) as raised:
        opened(sealed, **secret)
    assert text in str(raised.value)


@pytest.mark.parametrize("kind, size", [
    *(("sealed", size) for size in (0, 1, SEGMENT - 1, SEGMENT, SEGMENT + 1, 3 * SEGMENT)),
    *(("parts", size) for size in (0, 1, SEGMENT, 3 * SEGMENT, 100_000)),
    *(("age", size) for size in (0, 1, af.SEGMENT - 1, af.SEGMENT, af.SEGMENT + 1, 3 * af.SEGMENT)),
])
def test_sizes(key, kind, size):
    sealed, secret = make(kind, some_bytes(size), key)
    assert opened(sealed, **secret) == some_bytes(size)


def test_parts_of_unequal_sizes():
    """As a pipeline makes them: also parts without bytes, at both ends and in between."""
    pieces = [b"", PLAIN[:1], b"", b"", PLAIN[1:SEGMENT], PLAIN[SEGMENT : 3 * SEGMENT], PLAIN[3 * SEGMENT :], b""]
    job = pf.new_job(keys=[KEY])
    sealed = pf.join(job, pf.seal_parts(job, pieces))
    assert opened(sealed) == PLAIN
    with SealedFile(io.BytesIO(sealed), key=KEY) as file:
        for at in (0, 1, 2, SEGMENT - 1, SEGMENT, 3 * SEGMENT, len(PLAIN) - 1, len(PLAIN)):
            assert file.read_at(at, 2) == PLAIN[at : at + 2]


@pytest.mark.parametrize("content", [KEY, KEY.hex().encode(), KEY.hex().upper().encode() + b" \t\r\n\n"])
def test_key_files(key, content):
    sealed = seal(PLAIN, "-k", key)
    assert opened(sealed, key=content) == opened(sealed, key=secret_file("copy", content)) == PLAIN
    assert opened(sealed, key=pathlib.Path("copy")) == PLAIN


def test_identity_files():
    """As gpuaes-keygen writes them, in lowercase, and with several identities."""
    recipient, other = (keygen("--x25519", "-o", name).out.decode().strip() for name in ("identity", "other"))
    content = pathlib.Path("identity").read_bytes()
    text = next(line for line in content.splitlines() if line.startswith(b"AGE-"))
    pq = sf.to_text(sf.PQ_IDENTITY, KEY).encode()
    several = b"# comment\n" + pathlib.Path("other").read_bytes() + pq + b"\n\t" + text.lower() + b" \r\n"
    for sealed in seal(PLAIN, "-f", "sealed", "-r", recipient), seal(PLAIN, "-r", recipient):
        for key in (content, text, several, pathlib.Path("identity")):
            assert opened(sealed, key=key) == PLAIN
        refuse(WrongKey, "the secret opens no", sealed, key="other")
    for key, error in ((text[:-1] + b"x", "wrong length or a wrong character"), (text[:-1], "wrong length"),
                       (text[:-1] + (b"P" if text.endswith(b"Q") else b"Q"), "it has a typing error"),
                       (text + b"\nabc", "wrong length"), (b"", "neither a key of 32 bytes nor an identity"),
                       (KEY[:16], "neither"), (KEY.hex().encode()[:-1], "neither"), (other.encode(), "neither")):
        refuse(ValueError, error, sealed, key=key)


@pytest.mark.parametrize("options", [(), ("-f", "age")])
def test_passphrases(options):
    secret_file("passphrase", " \xe9\nanother line".encode())
    sealed = seal(PLAIN, *options, "--passphrase-file", "passphrase")
    assert opened(sealed, passphrase=" \xe9") == opened(sealed, passphrase=" \xe9".encode()) == PLAIN
    refuse(WrongKey, "the secret opens no", sealed, passphrase="\xe9")
    for passphrase in ("", "x" * 1025):
        refuse(ValueError, "1 to 1024 bytes", sealed, passphrase=passphrase)
    refuse(ValueError, "either a key or a passphrase", sealed, key=None)
    refuse(ValueError, "either a key or a passphrase", sealed, key=KEY, passphrase="x")


@pytest.mark.parametrize("wrap", [seal, lambda plain, *options: seal_in_parts(plain, 2, options[1], *options[2:])])
def test_labels(key, wrap):
    sealed = wrap(PLAIN, "-k", key, "--label", "\xe9t\xe9")
    assert opened(sealed, key=KEY, label="\xe9t\xe9") == PLAIN
    for label in ("", "other"):
        refuse(NotAuthentic, "the label is wrong", sealed, key=KEY, label=label)
    refuse(ValueError, "at most 255 bytes", sealed, key=KEY, label="x" * 256)


def test_each_slot_opens_a_file(key):
    recipient = af.recipient_text()
    secret_file("words", b"x")
    assert opened(seal(PLAIN, "-k", key, "--passphrase-file", "words"), passphrase="x") == PLAIN
    for sealed in seal(PLAIN, "-k", key, "-r", recipient), seal_in_parts(PLAIN, 2, key, "-r", recipient):
        assert opened(sealed) == opened(sealed, key=IDENTITY) == PLAIN
        refuse(WrongKey, "the secret opens no slot", sealed, key=KEY[::-1])
        refuse(WrongKey, "the secret opens no slot", sealed, passphrase="x")


def test_each_stanza_of_its_kind_is_tried():
    file_key = bytes(16)
    other, ours = (af.x25519_stanza(file_key, recipient) for recipient in (sf.public_key(KEY[::-1]), af.RECIPIENT))
    grease = (["some-grease", "argument"], bytes(100))
    assert opened(af.seal(PLAIN, [grease, other, ours], file_key), key=IDENTITY) == PLAIN
    refuse(WrongKey, "the secret opens no stanza", af.seal(PLAIN, [grease, other], file_key), key=IDENTITY)
    refuse(WrongKey, "the secret opens no stanza", af.seal(PLAIN))
    refuse(NotSupported, "stanzas of type some-grease are not", af.seal(PLAIN, [grease], file_key), key=IDENTITY)
    refuse(ValueError, "which has no label", af.seal(PLAIN), key=IDENTITY, label="x")


def test_long_headers():
    """More slots or stanzas than the part of the file that is read first contains."""
    slots = [(5, bytes(2000))] * 31 + [sf.key_slot(KEY, KEY)]
    assert opened(sf.seal(PLAIN, slots=slots, file_key=KEY)) == PLAIN
    file_key = bytes(16)
    stanzas = [(["grease"], bytes(100_000)), af.x25519_stanza(file_key)]
    assert opened(af.seal(PLAIN, stanzas, file_key), key=IDENTITY) == PLAIN


@pytest.mark.parametrize("kind", KINDS)
def test_with_another_header(key, kind):
    """What --rekey makes of the beginning of the file opens the rest with another key."""
    sealed, _ = make(kind, PLAIN, key)
    once = KEY[::-1]
    if kind == "age":
        new, secret = ["-r", af.recipient_text(sf.public_key(once))], {"key": af.identity_text(once).encode()}
    else:
        new, secret = ["--new-key", secret_file("once", once)], {"key": once}
    old = secret_file("identity", IDENTITY) if kind == "age" else key
    header = stream("--rekey", "-q", "-k", old, *new, input=sealed[:4096]).out
    refuse(WrongKey, "the secret opens no", sealed, **secret)
    assert opened(sealed, header=header, **secret) == PLAIN


@pytest.mark.parametrize("kind", KINDS)
def test_with_the_header_of_another_file(key, kind):
    sealed, secret = make(kind, PLAIN, key)
    others = [make(other, PLAIN, key)[0] for other in KINDS]
    for header in (*others, sealed[:100], b"", sealed[:40] + bytes([sealed[40] ^ 1]) + sealed[41:]):
        refuse((NotAuthentic, WrongKey), "", sealed, header=header, **secret)


def test_what_is_not_supported(key):
    sealed = seal(PLAIN, "-k", key)
    refuse(NotSupported, "suite 02 is not supported", seal(PLAIN, "-k", key, "-c", "kuznyechik"))
    refuse(NotSupported, "suite 04", seal_in_parts(PLAIN, 2, key, "-c", "kuznyechik"))
    for magic in (b"gpuaes-stream/2\n", b"gpuaes-stream/10"):
        refuse(NotSupported, "versions of the sealed format", magic + bytes(200))
    refuse(NotSupported, "versions of age files", b"age-encryption.org/v2\n-> X25519")
    for data in (sealed, af.seal(PLAIN)):
        refuse(NotSupported, "armor is not supported", b" \n" + armor.armor(data))
    for content, what in ((sf.to_text(sf.PQ_IDENTITY, KEY).encode(), "post-quantum"), (b"AGE-PLUGIN-X-1QQQQ", "plugin"),
                          (b"-----BEGIN OPENSSH PRIVATE KEY-----", "SSH"), (sealed, "encrypted"), (af.seal(KEY), "encry")):
        refuse(NotSupported, what, sealed, key=content)


def test_a_slot_for_post_quantum_recipients_is_skipped(key, ml_kem):
    recipient = keygen("--post-quantum", "-o", "identity", wrap=ml_kem).out.decode().strip()
    sealed = stream("-k", key, "-r", recipient, input=PLAIN, wrap=ml_kem).out
    assert opened(sealed) == PLAIN
    refuse(WrongKey, "the secret opens no slot that is supported; not tried: slot 2", sealed, key=KEY[::-1])
    refuse(NotSupported, "stanzas of type mlkem768x25519",
           stream("-r", recipient, input=PLAIN, wrap=ml_kem).out, key=IDENTITY)


def test_files_that_age_wrote():
    try:
        sealed = subprocess.run(["age", "-r", af.recipient_text()], input=PLAIN, check=True, stdout=subprocess.PIPE).stdout
    except FileNotFoundError:
        pytest.skip("age is not installed")
    assert opened(sealed, key=IDENTITY) == PLAIN


def test_directories(key):
    parts_steps.plan_and_seal(key, PLAIN, 3, "dir")
    with pytest.raises(NotAuthentic, match="dir/index is missing"):
        SealedFile("dir", key=key)
    parts_steps.join("dir")
    pathlib.Path("dir/part.0000003").touch()  # ignored
    for name in ("dir", pathlib.Path("dir")):
        with SealedFile(name, key=key) as file:
            assert file.read() == PLAIN

    def expect(error):
        with pytest.raises(NotAuthentic, match=error):
            SealedFile("dir", key=key)

    for name in ("index", "head", "part.0000000", "part.0000002"):
        os.rename(f"dir/{name}", "away")
        expect(f"dir/{name} is missing")
        os.rename("away", f"dir/{name}")
    moved = pathlib.Path("dir/part.0000001").read_bytes()
    pathlib.Path("dir/part.0000001").write_bytes(moved[1:])
    expect("a part has the wrong size")
    pathlib.Path("dir/part.0000000").write_bytes(pathlib.Path("dir/part.0000000").read_bytes() + moved[:1])
    expect("a part has the wrong size")
    index = pathlib.Path("dir/index").read_bytes()
    for changed in (b"", index[:-1], index + b"\0", index[:-8] + bytes(8)):
        pathlib.Path("dir/index").write_bytes(changed)
        expect("the index is missing or damaged")
    pathlib.Path("dir/head").write_bytes(seal(PLAIN, "-k", key))
    expect("the directory is not a file made of parts")
    pathlib.Path("dir/head").write_bytes(af.seal(PLAIN))
    expect("the input is neither a sealed file")


def test_a_directory_of_many_parts():
    job = pf.new_job(keys=[KEY])
    pieces = [b"%d" % number for number in range(1000)]
    pf.write_directory("dir", job, pf.seal_parts(job, pieces))
    with SealedFile("dir", key=KEY) as file:
        assert file.read() == b"".join(pieces)


def test_errors_have_one_base():
    assert {WrongKey, NotAuthentic, NotSupported} == {*SealedFileError.__subclasses__()}


def test_errors_of_the_system_remain(key):
    with pytest.raises(FileNotFoundError):
        SealedFile("missing", key=key)
    pathlib.Path("file").write_bytes(seal(PLAIN, "-k", key))
    with pytest.raises(FileNotFoundError):
        SealedFile("file", key="missing")


def test_the_wheel_has_it_as_a_module():
    if not INSTALLED or not (FOLDER.parent / "pyvenv.cfg").exists():
        pytest.skip("the programs are not from a wheel")
    (site,) = FOLDER.parent.glob("lib/python3*/site-packages")
    source = (READER / "sealedfile.py").read_bytes()
    assert (site / "gpuaes_stream.py").read_bytes() == (READER / "open-sealed.py").read_bytes() == source
    metadata = next(site.glob("gpuaes_stream-*.dist-info")) / "METADATA"
    assert "Provides-Extra: reader" in metadata.read_text()
