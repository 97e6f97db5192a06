"""--rekey says which slots or stanzas it removed, by kind and number, and which ones the file has now, if it is certain that
they were removed."""

import os
import pathlib

import pytest

from programs import keygen, secret_file, some_bytes, stream

pytest.importorskip("cryptography")
import age_format as age  # noqa: E402
import age_plugin  # noqa: E402
import sealed_format as sf  # noqa: E402
import ssh_keys  # noqa: E402
from parts_steps import join, plan_and_seal  # noqa: E402

PLAIN = some_bytes(1000)
FILE_KEY = bytes(range(100, 132))
LOST = "secrets that were not given again no longer open the file, but anyone who had one may have kept the file key"


@pytest.fixture(autouse=True)
def secrets():
    """Key files, identities with the recipients NAME.pub, and passphrases."""
    for name in "a", "b":
        secret_file(f"../{name}", os.urandom(32))
    for name, private in ("me", age.IDENTITY), ("you", os.urandom(32)), ("third", os.urandom(32)):
        secret_file(f"../{name}", age.identity_text(private).encode())
        pathlib.Path(f"../{name}.pub").write_text(age.recipient_text(sf.public_key(private)))
    for name in "words", "other-words":
        secret_file(f"../{name}", f"{name} are many".encode())


def named(options):
    """With the secrets as absolute names."""
    return [os.path.abspath(f"../{word}") if os.path.exists(f"../{word}") else word for word in options.split()]


def seal(options, name="file"):
    stream("-q", *named(options), "-o", name, input=PLAIN)


def rekey(options, name="file", **how):
    """The notes."""
    result = stream("--rekey", *named(options), name, **how)
    assert result.out == b""
    return result.notes


def removed(what, now, name="file"):
    return [f"{name}: removed {what}; the file now has {now}", LOST]


@pytest.mark.parametrize("old, options, what, now", [
    ("-k a -k b --passphrase-file words", "-k a --new-key a --new-key b", "1 passphrase slot", "2 key file slots"),
    ("-k a -k b --passphrase-file words", "-k a --new-key a", "1 key file slot and 1 passphrase slot", "1 key file slot"),
    ("-k a", "-k a --new-key b", "1 key file slot", "1 key file slot"),
    # One of the two may be for the new recipient.
    ("-k a -R me.pub -R you.pub", "-k a --new-key a -R you.pub", "1 X25519 recipient slot",
     "1 key file slot and 1 X25519 recipient slot"),
    ("-f sealed -R me.pub -R you.pub", "-k me -k you -R me.pub -R third.pub", "1 X25519 recipient slot",
     "2 X25519 recipient slots"),
    ("-R me.pub -R you.pub", "-k me -R me.pub", "1 X25519 stanza", "1 X25519 stanza"),
    ("-f age --passphrase-file words", "--passphrase-file words -R me.pub", "1 scrypt stanza", "1 X25519 stanza"),
])
def test_what_was_removed(old, options, what, now):
    seal(old)
    assert rekey(options) == removed(what, now)


def test_many_kinds_are_not_named():
    for count in 7, 8, 9, 10:
        stanzas = [([f"kind-{number}"], b"") for number in range(count)]
        file_key = FILE_KEY[:16]
        pathlib.Path("file").write_bytes(age.seal(PLAIN, [age.x25519_stanza(file_key), *stanzas], file_key))
        named = [f"1 kind-{number} stanza" for number in range(count)]
        what = f"{', '.join(named[:-1])} and {named[-1]}" if count <= 8 else f"{count} stanzas"
        assert rekey("-k me -R me.pub") == removed(what, "1 X25519 stanza")


@pytest.mark.parametrize("old, options", [
    ("-k a", "-k a --new-key a --new-key b --new-passphrase-file words"),
    ("-k a -k b", "-k a --new-key b --new-key a"),
    ("-R me.pub -R you.pub", "-k you -k me -R me.pub -R you.pub -R third.pub"),
    ("-f sealed -R me.pub", "-k me -R you.pub -R me.pub --new-key a"),
    ("-k a --passphrase-file words", "-k a --new-key a --new-passphrase-file words"),
    ("-f age --passphrase-file words", "--passphrase-file words --new-passphrase-file words"),
    # Without an identity, a new recipient may be one of the old ones.
    ("-R me.pub -R you.pub", "-k me -R me.pub -R you.pub"),
    ("-f sealed -R me.pub -R you.pub", "-k me -R me.pub -R you.pub -R third.pub"),
])
def test_nothing_is_said_unless_something_was_certainly_removed(old, options):
    seal(old)
    assert rekey(options) == []


def test_post_quantum_recipients(ml_kem):
    one, other = (keygen("--post-quantum", "-o", name, wrap=ml_kem).out.decode().strip() for name in ("one", "other"))
    for form, noun in ("sealed", "X-Wing recipient slot"), ("age", "mlkem768x25519 stanza"):
        stream("-f", form, "-r", one, "-o", form, input=PLAIN, wrap=ml_kem)
        assert rekey(f"-k one -r {one} -r {other}", form, wrap=ml_kem) == []
        assert rekey(f"-k one -r {one}", form, wrap=ml_kem) == removed(f"1 {noun}", f"1 {noun}", form)


def test_ssh_keys_are_known_by_their_fingerprints():
    """Without their identities."""
    for name, kind in ("one", "ed25519"), ("two", "ed25519"), ("rsa", 2048):
        ssh_keys.write(name, ssh_keys.make(kind))
    seal("-R me.pub -R one.pub -R two.pub -R rsa.pub")
    assert rekey("-k me -R me.pub -R rsa.pub -R two.pub -R one.pub") == []
    assert rekey("-k me -R me.pub -R two.pub") == removed(
        "1 ssh-rsa stanza and 1 ssh-ed25519 stanza", "1 X25519 stanza and 1 ssh-ed25519 stanza")
    assert rekey("-k two -R me.pub -R one.pub") == removed(
        "1 ssh-ed25519 stanza", "1 X25519 stanza and 1 ssh-ed25519 stanza")


def test_recipients_of_plugins(work, monkeypatch):
    """Only the plugin knows which stanzas are for them."""
    (work.parent / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{work.parent}/bin:{os.environ['PATH']}")
    send_grease = 'wrap_first = lambda: MACHINE == "recipient-v1" and ask("recipient-stanza", "0", "foo-grease", "x")\n'
    age_plugin.install(work.parent / "bin", code=send_grease + "serve(wrap_first)")
    one, other = (sf.to_text("age1test", data) for data in (b"one", b"other"))
    seal(f"-R me.pub -r {one} -r {other}")
    assert rekey(f"-k me -R me.pub -r {other} -r {one}") == []
    assert rekey(f"-k me -R me.pub -r {one}") == removed("1 test stanza", "1 test stanza and 1 X25519 stanza")
    assert rekey(f"-k me -r {one}") == removed("1 X25519 stanza", "1 test stanza")
    seal(f"-R me.pub -r {one}")
    assert rekey("-k me -R me.pub") == removed("1 test stanza", "1 X25519 stanza")


# --- Where the file is ---------------------------------------------------------------------------------------------


def test_every_way_to_write_the_file():
    seal("-k a -k b")
    options, said = named("--rekey -k a --new-key a"), ("1 key file slot", "1 key file slot")
    assert stream(*options, "file", "-o", "out").notes == removed(*said, "out")
    assert stream(*options, "-a", "file", "-o", "armor").notes == removed(*said, "armor")
    assert stream(*options, input=pathlib.Path("file").read_bytes()).notes == removed(*said, "standard output")
    seal("-a -k a -k b", "armored")
    assert rekey("-k a --new-key a", "armored") == removed(*said, "armored")
    assert rekey("-q -k b --new-key b") == []


def test_files_in_parts():
    plan_and_seal("../a", PLAIN, 3, "dir", "-k", "../b")
    join("dir", "-o", "joined")
    for name in "dir", "joined":
        assert rekey("-k a --new-key a", name) == removed("1 key file slot", "1 key file slot", name)
        assert rekey("-k a --new-key a --new-passphrase-file words", name) == []


# --- Odd headers ---------------------------------------------------------------------------------------------------


def test_unknown_slots():
    key = pathlib.Path("../a").read_bytes()
    slots = [(5, b"unknown"), sf.key_slot(FILE_KEY, key), (0x7F, b""), (5, b"")]
    pathlib.Path("file").write_bytes(sf.seal(PLAIN, slots=slots, file_key=FILE_KEY))
    assert rekey("-k a --new-key a") == removed(
        "2 unknown type 05 slots and 1 unknown type 7f slot", "1 key file slot")


def write_age(*others):
    """The recipient me, and other stanzas."""
    file_key = os.urandom(16)
    pathlib.Path("file").write_bytes(age.seal(PLAIN, [age.x25519_stanza(file_key), *others], file_key))


def test_stanzas_of_no_known_kind():
    write_age((["piv-p256", "x"], b"1"), (["a-grease", "x"], b"2"))
    assert rekey("-k me -R me.pub") == removed("1 piv-p256 stanza", "1 X25519 stanza")
    write_age((["~#-grease"], b""))
    assert rekey("-k me -R me.pub") == []


def test_many_kinds_and_long_ones():
    write_age(*(([f"type-{i}"], b"") for i in range(9)))
    assert rekey("-k me -R me.pub") == removed("9 stanzas", "1 X25519 stanza")
    write_age((["x" * 60000], b""))
    assert rekey("-k me -R me.pub") == removed(f"1 {40 * 'x'}... stanza", "1 X25519 stanza")


def test_a_malicious_stanza_after_the_one_that_opens():
    """A share of low order."""
    write_age((["X25519", age.b64(bytes(32))], bytes(32)))
    assert rekey("-k me -R me.pub") == removed("1 X25519 stanza", "1 X25519 stanza")
