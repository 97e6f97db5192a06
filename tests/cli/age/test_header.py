"""Headers of age files: what is ignored, what is refused, and the exit status."""

import pathlib
import sys

import pytest

import age_format as age
import sealed_format as sf
from programs import SANITIZED, secret_file, stream
from terminals import at_terminal

FILE_KEY, SALT = bytes(range(16)), bytes(16)
PLAIN = b"some text"
X25519, OTHER = age.x25519_stanza(FILE_KEY), age.x25519_stanza(FILE_KEY, sf.public_key(bytes(range(1, 33))))
SCRYPT = age.scrypt_stanza(FILE_KEY, b"words")
UNKNOWN, GREASE = (["unknown", "a"], bytes(32)), (["x-grease", "!", "~"], bytes(48))
SSH, TAG = (([kind, "AAAA", age.b64(bytes(65))], bytes(32)) for kind in ("ssh-ed25519", "p256tag"))
BAD_XWING = ["mlkem768x25519", "AAAA"], bytes(32)


def file(stanzas, **fields):
    return age.header(FILE_KEY, stanzas, **fields) + SALT + b"".join(age.segments(FILE_KEY, SALT, PLAIN))


def changed(stanza, *arguments, body=None):
    """A stanza with these arguments instead of those after its type."""
    return [stanza[0][0], *arguments], stanza[1] if body is None else body


@pytest.fixture
def secrets(identity):
    return {"identity": ["-k", identity], "words": ["--passphrase-file", secret_file("words", b"words\n")]}


SHARE, SCRYPT_SALT = X25519[0][1], SCRYPT[0][1]
ONE, BODY = "the X25519 stanza has {} instead of 2", "the X25519 stanza has a body of {} bytes instead of 32"
NO_SHARE = "the X25519 stanza has an argument that is not the Base64 of 32 bytes"
NEXT_TO = "a scrypt stanza must be the only one"
NO_NUMBER = "the scrypt stanza has a work factor that is not a decimal number"


@pytest.mark.parametrize("stanzas, secret, status, error", [
    # Stanzas that the given secret is not for are ignored, even if they are malformed.
    ([UNKNOWN, X25519, GREASE], "identity", 0, ""),
    ([SSH, TAG, OTHER, X25519], "identity", 0, ""),
    ([BAD_XWING, X25519], "identity", 0, ""),
    ([changed(X25519)], "words", 3, "was encrypted for an X25519 recipient, and no X25519 identity was given"),
    ([changed(SCRYPT, SCRYPT_SALT, "23")], "identity", 3, "was encrypted with a passphrase, and none was given"),
    ([changed(X25519), SCRYPT], "words", 4, NEXT_TO),
    # No stanza opens.
    ([OTHER, UNKNOWN], "identity", 3, "which has stanzas of type X25519, unknown"),
    ([UNKNOWN, GREASE], "identity", 3, "which has stanzas of type unknown, x-grease"),
    ([(["a" * 41], b""), (["b" * 40], b"")], "identity", 3, f"which has stanzas of type {'a' * 40}..., {'b' * 40}"),
    ([SSH], "identity", 3, "was encrypted for an ssh-ed25519 key, and no such key was given"),
    ([TAG], "words", 3, "was encrypted for a P-256 key in hardware, and no identity of its plugin was given"),
    # Stanzas of the kind of the given secret.
    *(([X25519, bad], "identity", 4, error) for bad, error in (
        (changed(X25519), ONE.format("1 argument")), (changed(X25519, SHARE, "a"), ONE.format("3 arguments")),
        *((changed(X25519, text), NO_SHARE) for text in (SHARE[:-2], SHARE + "=", "_" + SHARE[1:])),
        (changed(X25519, SHARE, body=bytes(31)), BODY.format(31)),
        (changed(X25519, SHARE, body=bytes(33)), BODY.format(33)))),
    ([changed(X25519, age.b64(bytes(32)))], "identity", 4, "the X25519 stanza has a share of low order"),
    *(([changed(SCRYPT, SCRYPT_SALT, factor)], "words", 4, error) for factor, error in (
        ("23", "the scrypt stanza has a work factor above 2^22"), ("010", NO_NUMBER), ("-1", NO_NUMBER),
        ("+9", NO_NUMBER), ("99999999999", "the scrypt stanza has a work factor above 2^22"))),
    *(([SCRYPT, other], secret, 4, NEXT_TO) for other in (X25519, UNKNOWN, SCRYPT) for secret in ("identity", "words")),
])  # fmt: skip
def test_stanzas(secrets, stanzas, secret, status, error):
    result = stream("-q", "-d", *secrets[secret], input=file(stanzas), status=status)
    assert result.out == (PLAIN if status == 0 else b"") and error in result.error


def test_stanzas_of_unknown_types_without_a_secret():
    pathlib.Path("unknown").write_bytes(file([UNKNOWN, GREASE]))
    for result in (stream("-d", "unknown", status=2, start_new_session=True), at_terminal("-d", "unknown", status=2)[0]):
        assert "no key or passphrase was given; the input has stanzas of type unknown, x-grease" in result.error
        assert result.hint == "name the identity file with -k"


def test_what_opens_the_input_is_named_without_a_secret():
    pathlib.Path("several").write_bytes(file([X25519, SSH, TAG]))
    result = stream("-d", "several", status=2, start_new_session=True)
    assert result.error == ("several: no key or passphrase was given; the input can be opened with an X25519 identity, an "
                            "ssh-ed25519 key or the plugin of a P-256 key")


def test_a_passphrase_is_not_asked_for_next_to_another_stanza():
    pathlib.Path("mixed").write_bytes(file([SCRYPT, UNKNOWN]))
    result, questions = at_terminal("-d", "mixed", status=4)
    assert NEXT_TO in result.error and questions == []


@pytest.mark.parametrize("fields, status, error", [
    ({"version": "v2"}, 1, "the input uses version v2 of the age format, not v1"),
    ({"version": "v1\r"}, 4, "the line ends of the input were converted to CR LF"),
    ({"mac": bytes(32)}, 4, "MAC"),
    ({"mac": bytes(31)}, 4, "the MAC is malformed"),
])
def test_version_and_mac(secrets, fields, status, error):
    for mode in ["-d"], ["--test"], ["--rekey", "-r", age.recipient_text()]:
        result = stream("-q", *mode, *secrets["identity"], input=file([X25519], **fields), status=status)
        assert (result.out, error in result.error) == (b"", True), result.error


def test_the_size_of_the_header_is_limited(secrets):
    for size, status in ((8 << 20, 0), (13 << 20, 4)):
        result = stream("-q", "-d", *secrets["identity"], input=file([(["large"], bytes(size)), X25519]), status=status)
        assert status == 0 or "it is longer than 16 MiB" in result.error


# Runs a command, and prints its largest resident set in KiB. The process that starts it counts, so it must be small.
MEMORY_OF = [sys.executable, "-c", "import resource, subprocess, sys; subprocess.check_output(sys.argv[1:]); "
             "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"]  # fmt: skip


@pytest.mark.skipif(SANITIZED, reason="sanitizers need memory")
def test_a_long_header_takes_a_small_multiple_of_its_size_in_memory(identity):
    for stanzas in [(["a"] * 64, bytes(11000))] * 1023, [(["a" * 200] * 64, b"")] * 1023, [(["a"], bytes(11 << 20))]:
        pathlib.Path("long").write_bytes(made := file([*stanzas, X25519]))
        kibibytes = int(stream("-d", "-k", identity, "long", wrap=MEMORY_OF).out)
        assert kibibytes * 1024 < 5 * len(made) + (16 << 20)


@pytest.mark.parametrize("text, error", [
    (b"v" * 200, "a line is too long"),
    (b"v1\n-> " + b"a" * 70000 + b"\n", "a line is too long"),
    (file([GREASE] * 1025)[len("age-encryption.org/"):], "it has more than 1024 stanzas"),
    (file([X25519, (65 * ["a"], b"")])[len("age-encryption.org/"):], "a stanza has more than 64 arguments"),
], ids=["version", "argument", "stanzas", "arguments"])  # fmt: skip
def test_a_header_is_limited(identity, text, error):
    found = stream("-d", "-k", identity, input=b"age-encryption.org/" + text, status=4)
    assert error in found.error
    many = b"\n".join([age.recipient_text().encode()] * 1025)
    pathlib.Path("many").write_bytes(many)
    assert stream("-R", "many", status=2).error == "the age format allows at most 1024 recipients"
