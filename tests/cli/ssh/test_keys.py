"""ssh keys on the command line and in files: which are accepted, and what is said about the others."""

import base64
import pathlib
import shutil
import subprocess

import pytest

import age_format as age
import ssh_keys
from programs import expect_same, keygen, parts, run, secret_file, some_bytes, stream
from ssh_keys import serialization
from terminals import at_terminal

needs_ssh_keygen = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed")

PLAIN = some_bytes(1000)
OTHER_TYPE = "use a key of type ssh-ed25519 or ssh-rsa"
ONLY_TYPES = "only ssh-ed25519 and ssh-rsa keys can be recipients"


def expect_refused(error, hint, *options, run=stream):
    result = run(*options, status=2)
    assert (result.error, result.hint, result.warnings) == (error, hint, [])


def write(name, *lines):
    pathlib.Path(name).write_text("".join(line + "\n" for line in lines))


# --- Recipients ----------------------------------------------------------------------------------------------------


def test_authorized_keys(ed25519, rsa):
    ecdsa, security_key = ssh_keys.write("ecdsa", ssh_keys.make("ecdsa")).text, ssh_keys.line(
        "sk-ssh-ed25519@openssh.com", bytes(32), b"ssh:")
    write("keys", "# who may log in", "", ecdsa, f"  {ed25519.text}\tme@host", f"{security_key} token", rsa.text)
    made = stream("-R", "keys", input=PLAIN)
    skipped = "line {} of keys is an SSH key of type {}, which cannot be a recipient and is skipped"
    assert made.warnings == [skipped.format(3, "ecdsa-sha2-nistp256"), skipped.format(5, "sk-ssh-ed25519@openssh.com")]
    for name in "ed25519", "rsa":
        expect_same(PLAIN, stream("-d", "-k", name, input=made.out).out)
    write("keys", ecdsa)
    found = stream("-R", "keys", status=2)
    assert (found.error, found.hint) == ("--recipients-file: keys contains no recipients", ONLY_TYPES)
    expect_refused(f"-r {ecdsa[:40]}... is an SSH key of type ecdsa-sha2-nistp256, which cannot be a recipient",
                   ONLY_TYPES, "-r", ecdsa)


def test_options_of_authorized_keys(ed25519):
    for options in 'restrict,command="ls -l"', "no-pty", 'environment="A=ssh-rsa x"':
        write("keys", f"{options} {ed25519.text}")
        expect_refused("--recipients-file: line 1 of keys has options before an SSH key",
                       "a recipient has no options; it begins with ssh-ed25519 or ssh-rsa", "-R", "keys")


LOW_ORDER = "a file that is sealed for it is not protected by X25519; ask for another recipient"
POINT = "it is not the canonical form of a point on the curve"


@pytest.mark.parametrize("text, problem", [
    *((ssh_keys.line("ssh-ed25519", y.to_bytes(32, "little")), POINT)
      for y in (1, 2, ssh_keys.PRIME - 1, ssh_keys.PRIME, 2**255 - 1, 2**256 - 1)),
    (ssh_keys.line("ssh-ed25519", bytes(31)), POINT),
    (ssh_keys.line("ssh-rsa", b"\1\0\1", b"\x7f" + bytes(126) + b"\1"),
     "it has 1023 bits; 2048 to 8192 are allowed"),
    (ssh_keys.line("ssh-rsa", b"\1\0\1", b"\x01" + bytes(1023) + b"\1"),
     "it has 8193 bits; 2048 to 8192 are allowed"),
    (ssh_keys.line("ssh-rsa", b"\1\0\1", b"\0\x7f" + bytes(254) + b"\1"), "its encoding is not canonical"),
    (ssh_keys.line("ssh-rsa", b"\1", b"\x7f" + bytes(255) + b"\1"),
     "its exponent is not an odd number from 3 to 2^24"),
    ("ssh-ed25519", "it is damaged or truncated"), ("ssh-ed25519 AAAA", "it is damaged or truncated"),
    ("ssh-unknown AAAA", "it is damaged or truncated"),
])  # fmt: skip
def test_keys_that_are_not_valid(text, problem):
    shown = text if len(text) <= 100 else text[:40] + "..."
    expect_refused(f"-r {shown} is not a valid SSH key: {problem}", "", "-r", text)
    write("keys", text)
    expect_refused(f"--recipients-file: line 1 of keys is not a valid SSH key: {problem}", "", "-R", "keys")


def test_points_of_low_order():
    for point in bytes(32), bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"):
        text = ssh_keys.line("ssh-ed25519", point)
        expect_refused(f"recipient {text} contains a low-order X25519 point", LOW_ORDER, "-r", text)


def test_what_they_cannot_be_combined_with(ed25519, key, ml_kem):
    only = "the sealed format does not accept SSH, hardware or plugin recipients"
    for options in ["-k", key], ["-f", "sealed"]:
        assert stream(*options, "-r", ed25519.text, status=2).error == only
    assert parts("plan", "-r", ed25519.text, "-n", "2", "-o", "dir", status=2).error == only
    stream("-k", key, "-o", "sealed", input=PLAIN)
    assert stream("--rekey", "-k", key, "-r", ed25519.text, "sealed", status=2).error == only
    secret_file("words", b"correct horse\n")
    assert stream("-r", ed25519.text, "--passphrase-file", "words", status=2).error == (
        "a passphrase cannot be combined with recipients")
    keygen("--post-quantum", "-o", "identity", wrap=ml_kem)
    assert stream("-r", ed25519.text, "-R", "identity.pub", wrap=ml_kem, status=2).error == (
        "incompatible recipients: post-quantum ones cannot be combined with others")


# --- Identities ----------------------------------------------------------------------------------------------------


def test_keygen_prints_the_recipient(each):
    assert keygen("-y", each.name).out.decode() == each.text + "\n"


def test_other_forms_of_private_keys(ed25519, rsa):
    pkcs1, pkcs8 = serialization.PrivateFormat.TraditionalOpenSSL, serialization.PrivateFormat.PKCS8
    for key, form in (rsa, pkcs1), (rsa, pkcs8), (ed25519, pkcs8):
        secret_file("other", ssh_keys.private_text(key.key, form=form))
        made = stream("-r", key.text, input=PLAIN).out
        expect_same(PLAIN, stream("-d", "-k", "other", input=made).out)
        assert keygen("-y", "other").out.decode() == key.text + "\n"


def test_a_private_key_in_a_file_with_a_passphrase(each):
    file_key = bytes(16)
    stanza = age.scrypt_stanza(file_key, b"correct horse")
    secret_file("key.age", age.seal(pathlib.Path(each.name).read_bytes(), [stanza], file_key))
    stream("-r", each.text, "-o", "made", input=PLAIN)
    assert at_terminal("-d", "-k", "key.age", "-i", "made", "-o", "opened", answers=["correct horse"])[0].status == 0
    expect_same(PLAIN, pathlib.Path("opened").read_bytes())


def test_private_keys_that_are_not_identities(work):
    ssh_keys.write("ecdsa", ssh_keys.make("ecdsa"))
    ssh_keys.write("small", ssh_keys.make(1024))
    expect_refused("--key: ecdsa is a private key of a type that is not supported", OTHER_TYPE, "-d", "-k", "ecdsa")
    expect_refused("--key: small is not a valid SSH private key: it has 1024 bits; 2048 to 8192 are allowed", "",
                   "-d", "-k", "small")


def unusable(ed25519):
    """Files with keys that cannot open anything, and what is said about them."""
    ssh_keys.write("ecdsa", ssh_keys.make("ecdsa"))
    ssh_keys.write("small", ssh_keys.make(1024))
    ssh_keys.write("locked", ssh_keys.make("ecdsa"))
    subprocess.run(["ssh-keygen", "-q", "-p", "-N", "words", "-f", "locked"], check=True)
    secret_file("damaged", pathlib.Path("ed25519").read_bytes().replace(b"\n", b"\nA", 1))
    secret_file("pkcs8", ssh_keys.private_text(ed25519.key, b"words", serialization.PrivateFormat.PKCS8))
    other = "is a private key of a type that is not supported"
    return {"ecdsa": other, "locked": other,
            "small": "is not a valid SSH private key: it has 1024 bits; 2048 to 8192 are allowed",
            "damaged": "is not a valid SSH private key: ", "pkcs8": "cannot open pkcs8.pub: No such file or directory",
            "ecdsa.pub": "contains a recipient, not a key"}


@needs_ssh_keygen
@pytest.mark.parametrize("program, option", [("gpuaes-stream", "-k"), ("gpuage", "-i")])
def test_keys_that_cannot_be_used_are_skipped(ed25519, rsa, program, option):
    """They are named only if no other key opens the file."""
    named = unusable(ed25519)
    options = ["-d", *(word for name in named for word in (option, name))]
    made = stream("-r", ed25519.text, input=PLAIN).out
    expect_same(PLAIN, run(program, *options, option, "ed25519", input=made).out)
    expect_same(PLAIN, run(program, "-d", option, "ed25519", *options[1:], input=made).out)
    for more, status in ([option, "rsa"], 3), ([], 2):
        error = run(program, *options, *more, input=made, status=1 if program == "gpuage" else status).error
        for name, text in named.items():
            assert text in error and name in error


@needs_ssh_keygen
def test_keys_that_cannot_be_used_cannot_encrypt(ed25519):
    for name, text in unusable(ed25519).items():
        assert text in stream("-e", "-k", "ed25519", "-k", name, input=PLAIN, status=(1, 2)).error


@pytest.mark.parametrize("end", [b" ", b"\t  ", b" \r"])
def test_spaces_at_the_ends_of_lines(each, end):
    secret_file("spaces", pathlib.Path(each.name).read_bytes().replace(b"\n", end + b"\n"))
    made = stream("-r", each.text, input=PLAIN).out
    for program, option in ("gpuaes-stream", "-k"), ("gpuage", "-i"):
        expect_same(PLAIN, run(program, "-d", option, "spaces", input=made).out)


def test_a_byte_order_mark(ed25519):
    secret_file("marked", b"\xef\xbb\xbf" + pathlib.Path("ed25519").read_bytes())
    secret_file("identity", b"\xef\xbb\xbf# created\n" + age.identity_text().encode())
    for program, option, status in ("gpuaes-stream", "-k", 2), ("gpuage", "-i", 1):
        for name in "marked", "identity":
            result = run(program, "-d", option, name, status=status)
            assert result.error.endswith(f"{name} begins with a UTF-8 byte order mark")
            assert result.hint == "save it as UTF-8 without a byte order mark"


def der(tag, data):
    size = len(data).to_bytes((len(data).bit_length() + 7) // 8, "big")
    return bytes([tag, *([len(data)] if len(data) < 128 else [0x80 | len(size), *size])]) + data


def test_a_dsa_key_whose_public_key_would_take_long_to_compute():
    """PKCS #8, with numbers of 100,000 bits."""
    number, zero = der(2, b"\x7f" * 12500), der(2, b"\0")
    algorithm = der(0x30, der(6, bytes.fromhex("2a8648ce380401")) + der(0x30, 3 * number))
    text = base64.encodebytes(der(0x30, zero + algorithm + der(4, number))).decode()
    secret_file("dsa", f"-----BEGIN PRIVATE KEY-----\n{text}-----END PRIVATE KEY-----\n".encode())
    expect_refused("--key: dsa is not a valid SSH private key: it is damaged or of a type that is not supported",
                   OTHER_TYPE, "-d", "-k", "dsa")


def test_keys_in_the_wrong_place(ed25519, key):
    expect_refused("--key: ed25519.pub contains a recipient, not a key",
                   "use -R FILE to encrypt for the recipients in a file; to decrypt, name an identity file with -k",
                   "-d", "-k", "ed25519.pub")
    expect_refused("--key: ed25519 contains an identity, which opens files but cannot encrypt them",
                   "use -d to decrypt, or -e to encrypt for its recipient", "-k", "ed25519")
    expect_refused("--recipients-file: line 1 of ed25519 is a secret identity, not a recipient",
                   "a recipient is the line that gpuaes-keygen -y prints for an identity", "-R", "ed25519")
    text = pathlib.Path("ed25519").read_text().strip()
    expect_refused("the argument of --recipient is a secret identity, not a recipient",
                   "a recipient is the line that gpuaes-keygen -y prints for an identity", "-r", text)
    sealed = stream("-k", key, input=PLAIN).out
    assert stream("-d", "-k", "ed25519", input=sealed, status=3).error == (
        "the input was encrypted with a key file, and none was given")
    expect_same(PLAIN, stream("-d", "-k", "ed25519", "-k", key, input=sealed).out)


# --- Other programs ------------------------------------------------------------------------------------------------


@pytest.fixture(params=[("ed25519",), ("rsa", "3072")], ids="-".join)
def made_by_ssh_keygen(request, work):
    kind, *bits = request.param
    size = ["-b", *bits] if bits else []
    subprocess.run(["ssh-keygen", "-q", "-t", kind, *size, "-N", "", "-f", "key"], check=True)
    return pathlib.Path("key.pub").read_text().strip()


@needs_ssh_keygen
def test_keys_of_ssh_keygen(made_by_ssh_keygen):
    made = stream("-r", made_by_ssh_keygen, input=PLAIN).out
    expect_same(PLAIN, stream("-d", "-k", "key", input=made).out)
    assert keygen("-y", "key").out.decode().split() == made_by_ssh_keygen.split()[:2]


@needs_ssh_keygen
@pytest.mark.skipif(not shutil.which("age"), reason="age is not installed")
def test_both_ways_with_age(made_by_ssh_keygen):
    def run_age(*options, input):
        return subprocess.run(["age", *options], input=input, capture_output=True, check=True).stdout

    for options in ["-r", made_by_ssh_keygen], ["-R", "key.pub"]:
        expect_same(PLAIN, run_age("-d", "-i", "key", input=stream(*options, input=PLAIN).out))
        expect_same(PLAIN, stream("-d", "-k", "key", input=run_age(*options, input=PLAIN)).out)
