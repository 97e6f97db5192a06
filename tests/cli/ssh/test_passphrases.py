"""SSH keys with a passphrase, which is asked for only if the key is needed."""

import base64
import pathlib
import shutil
import subprocess

import pytest

import ssh_keys
from programs import expect_same, keygen, secret_file, some_bytes, stream
from ssh_keys import serialization
from terminals import at_terminal

pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed")

PLAIN = some_bytes(1000)
WORDS = "correct horse"
PKCS1, PKCS8 = serialization.PrivateFormat.TraditionalOpenSSL, serialization.PrivateFormat.PKCS8


def question(name):
    return f"Enter passphrase for {name}:"


def lock(name, *options):
    subprocess.run(["ssh-keygen", "-q", "-p", "-N", WORDS, *options, "-f", name], check=True)


def open_with(*keys, answers=(), **how):
    options = [word for key in keys for word in ("-k", key)]
    return at_terminal("-d", *options, "made", answers=answers, **how)


@pytest.fixture
def made(each):
    """A file for the key, which then gets a passphrase."""
    stream("-r", each.text, "-o", "made", input=PLAIN)
    return each


AEADS = "aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com"


@pytest.mark.parametrize("cipher", [*(f"aes{n}-{mode}" for n in (128, 192, 256) for mode in ("ctr", "cbc")), *AEADS])
def test_openssh_format(made, cipher):
    lock(made.name, "-Z", cipher, "-a", "2")
    result, questions = open_with(made.name, answers=["wrong", WORDS])
    assert questions == [question(made.name), f"the passphrase does not open {made.name}", question(made.name)]
    expect_same(PLAIN, result.out)


@pytest.mark.parametrize("cipher", AEADS)
def test_each_bit_of_a_tag_counts(ed25519, cipher):
    stream("-r", ed25519.text, "-o", "made", input=PLAIN)
    lock("ed25519", "-Z", cipher, "-a", "1")
    begin, *lines, end = pathlib.Path("ed25519").read_text().split("\n")[:-1]
    data = base64.b64decode("".join(lines))
    for at in -1, -16, -17, -100:  # the tag, and the ciphertext
        changed = bytearray(data)
        changed[at] ^= 1
        secret_file("changed", "\n".join([begin, base64.b64encode(changed).decode(), end, ""]).encode())
        result, _ = open_with("changed", answers=[WORDS] * 3, status=3)
        assert result.error == "the passphrase does not open changed"


def test_an_unsupported_cipher_of_the_openssh_format(ed25519, rsa):
    """It is named only if nothing else opens the file, and the public half of the key can encrypt."""
    original = pathlib.Path("ed25519").read_bytes()
    lock("ed25519", "-Z", "3des-cbc")
    stream("-e", "-k", "ed25519", "-r", rsa.text, "-o", "made", input=PLAIN)
    result, questions = open_with("ed25519", status=2)
    assert (result.error, questions) == ("--key: ed25519 is encrypted with 3des-cbc, which is not supported", [])
    expect_same(PLAIN, open_with("ed25519", "rsa")[0].out)
    secret_file("original", original)
    expect_same(PLAIN, stream("-d", "-k", "original", "made").out)


@pytest.mark.parametrize("rounds", [1, 2, 17])
def test_rounds(made, rounds):
    lock(made.name, "-a", str(rounds))
    expect_same(PLAIN, open_with(made.name, answers=[WORDS])[0].out)


def lock_pem(name, cipher):
    """Encrypts an RSA key in PEM as older versions of ssh-keygen did."""
    subprocess.run(["openssl", "rsa", "-traditional", f"-{cipher}", "-in", name, "-out", "locked", "-passout",
                    f"pass:{WORDS}"], check=True, capture_output=True)  # fmt: skip
    pathlib.Path("locked").chmod(0o600)


@pytest.fixture
def pem(rsa):
    """An RSA key in PEM, and a file for it."""
    stream("-r", rsa.text, "-o", "made", input=PLAIN)
    secret_file("plain", ssh_keys.private_text(rsa.key, form=PKCS1))
    return rsa


@pytest.mark.parametrize("cipher", ["aes128", "aes192", "aes256"])
def test_pem(pem, cipher):
    lock_pem("plain", cipher)
    pathlib.Path("locked.pub").write_text(pem.text + "\n")
    result, questions = open_with("locked", answers=["wrong", WORDS])
    assert questions == [question("locked"), "the passphrase does not open locked", question("locked")]
    expect_same(PLAIN, result.out)


def test_pem_needs_the_public_key(pem, ed25519):
    lock_pem("plain", "aes128")
    result = stream("-d", "-k", "locked", "made", status=1)
    assert result.error == "--key: cannot open locked.pub: No such file or directory"
    assert result.hint == "its public key must be in FILE.pub: ssh-keygen -y -f FILE > FILE.pub"
    pathlib.Path("locked.pub").write_text(ed25519.text + "\n")
    stream("-r", ed25519.text, "-o", "made", "--force", input=PLAIN)
    result, _ = open_with("locked", answers=[WORDS], status=2)
    assert result.error == "--key: mismatched private and public SSH key: locked and locked.pub"


def test_a_public_key_of_another_program(pem):
    lock_pem("plain", "aes128")
    pathlib.Path("locked.pub").write_text(keygen("--x25519", "-o", "identity").out.decode())
    for options in ["-d", "-k", "locked", "made"], ["-e", "-k", "locked", "plain"]:
        assert stream(*options, status=2).error == "--key: locked.pub is not a valid SSH key: it is damaged or truncated"
    with open("locked", "rb") as file:
        assert stream("-d", "-k", "-", "made", stdin=file, status=2).error == (
            "--key: standard input has an SSH private key with a passphrase, whose public key is not known")


def test_other_encryption_is_refused_only_if_the_key_is_needed(pem, ed25519):
    pathlib.Path("locked.pub").write_text(pem.text + "\n")
    pkcs8 = ssh_keys.private_text(pem.key, WORDS.encode(), PKCS8)
    lock_pem("plain", "des3")
    for text, method in (pathlib.Path("locked").read_bytes(), "DES-EDE3-CBC"), (pkcs8, "PKCS #8"):
        secret_file("locked", text)
        stream("-r", pem.text, "-o", "made", "--force", input=PLAIN)
        result, questions = open_with("locked", status=2)
        assert questions == []
        assert result.error == f"--key: locked is encrypted with {method}, which is not supported"
        assert result.hint == ("copy the key, and change the passphrase of the copy with ssh-keygen, which encrypts it "
                               "with AES-256")
        made = stream("-e", "-k", "locked", input=PLAIN).out
        expect_same(PLAIN, stream("-d", "-k", "plain", input=made).out)
        stream("-r", ed25519.text, "-o", "made", "--force", input=PLAIN)
        expect_same(PLAIN, open_with("locked", "ed25519")[0].out)


def test_wrong_passphrases(made):
    lock(made.name, "-a", "1")
    result, questions = open_with(made.name, answers=["wrong", "wrong again", "and again"], status=3)
    assert result.error == f"the passphrase does not open {made.name}"
    assert questions.count(question(made.name)) == 3


def test_without_a_terminal(made):
    lock(made.name, "-a", "1")
    result = stream("-d", "-k", made.name, "made", status=2, start_new_session=True)
    assert result.error == f"--key: there is no terminal to ask for the passphrase of {made.name}"
    assert result.hint == "use --passphrase-file FILE to read it from a file"


def test_a_passphrase_file_serves_the_key(made):
    lock(made.name, "-a", "1")
    secret_file("words", WORDS.encode() + b"\n")
    expect_same(PLAIN, stream("-d", "-k", made.name, "--passphrase-file", "words", "made", start_new_session=True).out)
    secret_file("words", b"wrong\n")
    result, questions = at_terminal("-d", "-k", made.name, "--passphrase-file", "words", "made", answers=[WORDS])
    assert questions == [question(made.name)]
    expect_same(PLAIN, result.out)


def test_nothing_is_asked_if_another_key_opens_the_file(ed25519, rsa):
    recipient = keygen("--x25519", "-o", "identity").out.decode().strip()
    stream("-r", ed25519.text, "-r", rsa.text, "-r", recipient, "-o", "made", input=PLAIN)
    lock("rsa", "-a", "1")
    for other in "ed25519", "identity":
        expect_same(PLAIN, stream("-d", "-k", "rsa", "-k", other, "made", start_new_session=True).out)


def test_nothing_is_asked_if_no_stanza_is_for_the_key(ed25519, rsa):
    stream("-r", rsa.text, "-o", "made", input=PLAIN)
    lock("ed25519", "-a", "1")
    result, questions = open_with("ed25519", status=3)
    assert questions == []
    assert result.error == "made: the input was encrypted for an ssh-rsa key, and no such key was given"
    stream("-k", secret_file("key", bytes(range(32))), "-o", "made", "--force", input=PLAIN)
    assert open_with("ed25519", status=3)[1] == []


def test_encryption_needs_no_passphrase(each):
    original = pathlib.Path(each.name).read_bytes()
    lock(each.name, "-a", "1")
    stream("-e", "-k", each.name, "-o", "made", input=PLAIN, start_new_session=True)
    secret_file("original", original)
    expect_same(PLAIN, stream("-d", "-k", "original", "made").out)
    assert stream("-k", each.name, input=PLAIN, status=2).error == (
        f"--key: {each.name} contains an identity, which opens files but cannot encrypt them")


def test_the_recipient_of_a_key_with_a_passphrase(each):
    lock(each.name, "-a", "1")
    result = keygen("-y", each.name, status=2)
    assert result.error == f"--recipient: {each.name} is an SSH private key with a passphrase"
    assert result.hint == "its recipient is the line in FILE.pub"


def test_a_passphrase_is_not_suggested_if_only_keys_open_the_file(ed25519, rsa):
    stream("-r", ed25519.text, "-r", rsa.text, "-o", "made", input=PLAIN)
    assert stream("-d", "made", status=2, start_new_session=True).hint == "name the identity file with -k"
