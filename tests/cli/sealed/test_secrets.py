"""A sealed file opens with any of its secrets and no other, and a warning says if others may have written it."""

import os

import pytest

from programs import KEY, OTHER_KEYS, expect_same, flipped, secret_file, some_bytes, stream

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402

PLAIN, PASSPHRASE, IDENTITY = some_bytes(40000), b"correct horse", bytes(range(9, 41))
RECIPIENT = sf.to_text(sf.RECIPIENT, sf.public_key(IDENTITY))
KEYS_1_TO_32 = " ".join(f"-k key{i}" for i in range(1, 33))
WRONG_KEY, WRONG_WORDS = "none of the given keys opens the input", "the passphrase does not open the input"
NO_KEY = "the input was encrypted with a key file, and none was given"
NO_WORDS = "the input was encrypted with a passphrase, and none was given"
OTHER_WORDS = "the input was encrypted with other secrets, or its header is damaged; --info lists its slots"
HINTS = {WRONG_WORDS: OTHER_WORDS, NO_KEY: "name the key file with -k",
         NO_WORDS: "use -p to enter the passphrase, or --passphrase-file FILE to read it from a file"}


@pytest.fixture(autouse=True)
def files(key):
    contents = {"key": KEY, "short16": KEY[:16], "short24": KEY[:24], "words": PASSPHRASE, "other": b"battery staple\n",
                "identity": sf.to_text(sf.IDENTITY, IDENTITY).encode(), "list": RECIPIENT.encode()}
    contents |= {f"key{i}": b"%064x\n" % i for i in range(1, 34)}
    for name, content in contents.items():
        secret_file(name, content)


def words(text):
    """The options in a text, in which uppercase words are abbreviations."""
    names = {"K": "-k key", "I": "-k identity", "R": f"-r {RECIPIENT}", "W": "--passphrase-file words",
             "OTHER": "--passphrase-file other", "NEW_K": "--new-key key2", "NEW_W": "--new-passphrase-file words"}
    return " ".join(names.get(word, word) for word in text.split()).split()


def seal(options):
    return stream("-q", *words(options), input=PLAIN).out


def expect_secrets(sealed, opening, refused, ways=(("pipe",), ("file",), ("pipe", "-o", "out"))):
    """It opens with any of `opening`, but not with those in `refused`, a dictionary of errors."""
    for secret in opening:
        expect_same(PLAIN, stream("-q", "-d", *words(secret), input=sealed).out, secret)
    for secret, error in refused.items():
        for via, *more in ways:
            found = stream("-q", "-d", *words(secret), *more, status=3, input=sealed, via=via)
            hint = HINTS.get(error, OTHER_WORDS if len(words(secret)) > 2 else OTHER_KEYS)
            assert (found.out, found.error, found.hint) == (b"", error, hint)
    assert not os.path.exists("out")


@pytest.mark.parametrize("options, begin", [("K", 23), ("W", 26), ("R", 32), ("-f age W", 32), ("-f age R", 32)])
def test_salts_shares_and_nonces_are_new_in_each_file(options, begin):
    one, other = seal(options), seal(options)
    assert one[:begin] == other[:begin]
    assert not [at for at in range(begin, 250) if one[at:at + 8] == other[at:at + 8]]


@pytest.mark.parametrize("secrets, slots_size, opening, refused", [
    ("-k key1 -k key2 --key=key3", 3 * 67, ["-k key1", "-k key2", "-k key3"], {"-k key4": WRONG_KEY, "W": NO_KEY}),
    ("-k key1 W -k key2", 2 * 67 + 70, ["-k key1", "-k key2", "W", "-k key4 -k key2"],
     {"-k key3": WRONG_KEY, "OTHER": WRONG_WORDS, "-k key3 -k key4": WRONG_KEY}),
    (KEYS_1_TO_32, 32 * 67, ["-k key1", "-k key16", "-k key32"], {"-k key33": WRONG_KEY}),
], ids=["keys", "keys and a passphrase", "32 keys"])
def test_several_secrets(secrets, slots_size, opening, refused):
    sealed = seal(secrets)
    assert len(sealed) == 108 + slots_size + len(PLAIN) + 3 * 16
    expect_secrets(sealed, opening, refused, [("pipe",)])


def test_wrong_and_damaged_secrets():
    key, passphrase = sf.seal(PLAIN, [KEY]), sf.seal(PLAIN, passphrase=PASSPHRASE, log_n=10)
    expect_secrets(key, ["K", "-k key2 K"], {"-k key2": WRONG_KEY, "W": NO_KEY})
    expect_secrets(passphrase, ["W"], {"OTHER": WRONG_WORDS, "K": NO_WORDS})
    both_wrong = {"-k key2 OTHER": "none of the given secrets opens the input"}
    expect_secrets(sf.seal(PLAIN, [KEY], PASSPHRASE, 10), ["K", "W", "-k key2 W"],
                   {"-k key2": WRONG_KEY, "OTHER": WRONG_WORDS, **both_wrong})
    for at in 30, 60, 86:  # the salt, the file key and its tag
        expect_secrets(flipped(key, at), [], {"K": WRONG_KEY})
    expect_secrets(flipped(passphrase, 35), [], {"W": WRONG_WORDS})


def test_decryption_detects_the_cipher():
    kuznyechik = sf.seal(PLAIN, [KEY], suite=2)
    expect_secrets(kuznyechik, ["-c kuznyechik K"], {"-k key2": WRONG_KEY})
    found = stream("-q", "-d", "-c", "aes-256", "-k", "key", status=2, input=kuznyechik)
    assert found.error == "the input was encrypted with kuznyechik, not aes-256"
    expect_secrets(sf.seal(PLAIN, [KEY]), ["-c aes-256 K"], {})
    expect_secrets(sf.seal(PLAIN, passphrase=PASSPHRASE, log_n=10, suite=2), ["W"], {})


# --- Warnings ------------------------------------------------------------------------------------------------------

BOTH = "encrypting for both a key and a recipient; anyone with the identity could forge a file that the key opens"
REKEYED = ("the input was sealed for a recipient, so anyone could have written it; "
           "the new key or passphrase does not prove who did")


def test_a_warning_if_a_key_and_a_recipient_are_given():
    for options in "K R", "K -r @list", "K -k key2 R -c kuznyechik":
        assert stream(*words(options), input=PLAIN).warnings == [BOTH]
        assert stream("-q", *words(options), input=PLAIN).err == ""
    for options in "K", "R", "R R", "W", "K -k key2", "K W":
        assert stream(*words(options), input=PLAIN).err == ""
    # As the warning claims, anyone who has the identity can make a file that the key opens.
    slots, _ = sf.parse_header(seal("K R"))
    file_key = next(filter(None, (sf.unwrap(slot, None, None, IDENTITY) for slot in slots)))
    assert stream("-d", "-k", "key", input=sf.seal(b"forged", slots=slots, file_key=file_key)).out == b"forged"


def test_a_warning_if_a_file_for_a_recipient_gets_a_key():
    for_recipient, both = sf.seal(PLAIN, recipients=[sf.public_key(IDENTITY)]), seal("K R")
    with_key, with_words = sf.seal(PLAIN, [KEY]), sf.seal(PLAIN, passphrase=PASSPHRASE, log_n=10)
    for new in "NEW_K", "NEW_W", "NEW_K R", "R":
        for old, data in ("I", for_recipient), ("K", both):
            assert stream("--rekey", *words(f"{old} {new}"), input=data).warnings == ([REKEYED] if new != "R" else [])
        assert stream("-q", "--rekey", *words(f"K {new}"), input=both).err == ""
        for old, data in ("K", with_key), ("W", with_words):
            warnings = [BOTH] if new == "NEW_K R" else []
            assert stream("--rekey", *words(f"{old} {new}"), input=data).warnings == warnings
            assert not warnings or stream("-q", "--rekey", *words(f"{old} {new}"), input=data).err == ""
    for data, secret in (both, "K"), (both, "I"), (for_recipient, "I"):
        for mode in "-d", "--test", "--salvage":
            assert stream(mode, *words(secret), input=data).err == ""
