"""--rekey needs an old and a new secret, and no options for encryption. Options for new secrets need --rekey."""

import os
import pathlib
import shutil

import pytest

from programs import KEY, expect_same, files_here, secret_file, some_bytes, stream

PLAIN = some_bytes(40000)
SECRET_KEY = "c510cde0e47d78e31a3450a14906f63847fbf2d10db4b58bbb9a727ede2602d5"
IDENTITY = "AGE-SECRET-KEY-1PY9QKRQDPC83QYGJZV2P29SHRQV35XCUR50P7GPPYG3JGFFXYU5Q682MNM"
RECIPIENT = "age1sz97y9574qd5teq8u7wwfcyj4hfy487xas3cgvchetp5y903rq3qywjq32"
MANY = "--new-key new " * 32

NO_KEY = "sealed: the input was encrypted with a key file, and none was given"
NOT_BOTH = "a passphrase cannot be combined with recipients"
USE_ONE = "use one of the two; anyone can seal for a recipient, so the passphrase would not show who wrote the file"
REPLACED = "--rekey replaces the keys of sealed files and age files"
A_RECIPIENT = "a recipient is the line that gpuaes-keygen -y prints for an identity"
SAME = "sealed and --output are the same file"
OMIT = "omit --output to replace the file, or write to another file"
NOT_REGULAR = "{} is not a regular file and cannot be replaced"
NOT_IN_PARTS = ("--input: . does not contain a sealed file in parts",
                "to open encrypted files in it, name them, for example ./*.age")
ANOTHER = "name another file with -o"


@pytest.fixture(autouse=True)
def files(key):
    """Secrets, and the file `sealed`, which must stay as it is. Returns all names."""
    sealed = stream("-q", "-k", key, "-e", input=PLAIN).out
    for name, data in {"new": SECRET_KEY.encode() + b"\n", "identity": IDENTITY.encode() + b"\n", "empty": b"",
                       "recipient": RECIPIENT.encode() + b"\n", "words": b"correct horse\n", "key128": KEY[:16],
                       "key192": KEY[:24], "sealed": sealed}.items():
        secret_file(name, data)
    os.mkfifo("fifo")
    names = files_here()
    yield names
    assert pathlib.Path("sealed").read_bytes() == sealed and files_here() == names


def refused(key, options, status, error, hint):
    got = stream(*(key if word == "KEY" else word for word in options.split()), status=status)
    assert (got.out, got.error, got.hint) == (b"", error, hint)
    for secret in (SECRET_KEY, IDENTITY):
        assert secret not in got.err
    assert pathlib.Path("new").read_text() == SECRET_KEY + "\n"


@pytest.mark.parametrize("options, error, hint", [
    ("-k KEY", "--rekey requires a new key, recipient or passphrase",
     "use --new-key FILE, --recipient RECIPIENT or --new-passphrase"),
    ("--new-key new", NO_KEY, "name the key file with -k"),
    (f"-r {RECIPIENT}", NO_KEY, "name the key file with -k"),
    (f"--new-passphrase-file words -r {RECIPIENT}", NOT_BOTH, USE_ONE),
    (f"-k KEY --new-passphrase-file words -r {RECIPIENT}", NOT_BOTH, USE_ONE),
    ("-k KEY --new-passphrase --new-passphrase-file words",
     "--new-passphrase and --new-passphrase-file cannot be used together", ""),
    (f"-k KEY --new-passphrase -r {RECIPIENT}", NOT_BOTH, USE_ONE),
    *((f"-k KEY --new-key new {option}", f"--rekey cannot be used with {name}", "") for option, name in (
        ("-e", "--encrypt"), ("-d", "--decrypt"), ("-c aes-256", "--cipher"), ("--iv 00", "--iv"),
        ("--context 00", "--context"), ("--iter 7", "--iter"), ("-l cpu", "--lanes"),
        ("-b 1M", "--chunk-size"), ("--stats s", "--stats"), ("--trace t", "--trace"), ("--json", "--json"),
        ("--test", "--test"), ("--salvage", "--salvage"), ("--range 0:1", "--range"))),
    *((f"-k KEY --new-key new -f {name}", f"the keys of the {name} format cannot be replaced", REPLACED)
      for name in ("raw", "openssl", "cobblestone")),
    ("-k KEY --new-key identity", "--new-key: identity contains an identity, which opens files but cannot encrypt them",
     "use --recipient with its recipient, which gpuaes-keygen -y prints"),
    ("-k KEY --new-key recipient", "--new-key: recipient contains a recipient, not a key",
     "use -R FILE to encrypt for the recipients in a file; to decrypt, name an identity file with -k"),
    ("-k KEY -r @identity",
     "--recipients-file: line 1 of identity is a secret identity, not a recipient", A_RECIPIENT),
    (f"-k KEY -r {RECIPIENT[:40]}",
     f"-r {RECIPIENT[:40]} is not a valid recipient: it has 40 characters instead of 62", A_RECIPIENT),
    ("-k KEY --new-key key128", "the sealed format requires a key of 32 bytes; the key in key128 is 16 bytes long", ""),
    (f"-k KEY --new-key {SECRET_KEY}", "--new-key: a key was given instead of a file name",
     "other users may have seen this command line; make a new key with gpuaes-keygen and name its file"),
    (f"-k KEY --new-key {IDENTITY}", "--new-key: an identity was given instead of the name of its file",
     "other users may have seen this command line; make a new identity with gpuaes-keygen --x25519 or --post-quantum"),
    ("-k KEY --new-passphrase-file empty", "--new-passphrase-file: the passphrase from empty is empty", ""),
    ("-k KEY --new-key new -o sealed", SAME, OMIT),
    (f"-k KEY {MANY}-r {RECIPIENT}",
     "the sealed format allows at most 32 keys, recipients and passphrases in total", ""),
    ("-k KEY --new-key new stray", "--input cannot be used together with another input file",
     "name the input only once, and a key or identity file with -k"),
])
def test_rekey_is_refused(key, options, error, hint):
    refused(key, f"--rekey -i sealed {options}", 2, error, hint)


@pytest.mark.parametrize("option", ["--new-key new", "--new-passphrase", "--new-passphrase-file words"])
@pytest.mark.parametrize("direction", ["", "-e ", "-d "])
def test_new_secrets_require_rekey(key, direction, option):
    refused(key, f"{direction}-k KEY {option} -i sealed", 2, f"{option.split()[0]} requires --rekey", "")


@pytest.mark.parametrize("options, status, error, hint", [
    ("--new-key missing -i sealed", 1, "--new-key: cannot open missing: No such file or directory", ""),
    ("--new-key . -i sealed", 1, "--new-key: cannot read .: Is a directory", ""),
    ("--new-passphrase-file missing -i sealed", 1,
     "--new-passphrase-file: cannot open missing: No such file or directory", ""),
    ("--new-passphrase-file . -i sealed", 1, "--new-passphrase-file: cannot read .: Is a directory", ""),
    ("--new-key new -i missing -o out", 1, "--input: cannot open missing: No such file or directory", ""),
    ("--new-key new -i missing", 1, "--input: cannot open missing: No such file or directory", ""),
    ("--new-key new -i . -o out", 1, *NOT_IN_PARTS),
    ("--new-key new -i .", 1, *NOT_IN_PARTS),
    ("--new-key new -i sealed -o sealed", 2, SAME, OMIT),
    ("--new-key new -i sealed -o new", 2, "--new-key and --output are the same file", "write to another file"),
    *((f"--new-key new -i {name}", 2, NOT_REGULAR.format(name), ANOTHER)
      for name in ("fifo", "/dev/null", "/dev/zero")),
])
def test_files_that_cannot_be_read_or_replaced(key, options, status, error, hint):
    refused(key, f"--rekey -k KEY {options}", status, error, hint)


def test_a_file_that_is_also_standard_output_is_not_replaced(key):
    with open("sealed", "ab") as sealed:
        got = stream("--rekey", "-k", key, "--new-key", "new", "-i", "sealed", stdout=sealed, status=2)
    assert got.error == "sealed is also standard output or standard error and cannot be replaced"
    assert got.hint == ANOTHER


def pipe_with(data):
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    return reader


def test_secrets_and_input_from_pipes(key):
    """Old passphrase, new passphrase and input may come from three pipes, but not from a single one."""
    sealed = stream("-q", "-k", key, "--passphrase-file", "words", input=PLAIN).out
    one = "use a different file for one of them"
    got = stream("--rekey", "--passphrase-file", "/dev/stdin", "--new-passphrase-file", "/dev/stdin",
                 input=b"correct horse\nbattery staple\n" + sealed, status=2)
    assert got.error == "--passphrase-file and --new-passphrase-file are both read from /dev/stdin"
    assert got.hint == one
    got = stream("--rekey", "-k", key, "--new-key", "/dev/stdin", input=SECRET_KEY.encode() + b"\n" + sealed, status=2)
    assert (got.error, got.hint) == ("--new-key and the input are both read from standard input", one)
    old, new = (pipe_with(words) for words in (b"correct horse\n", b"battery staple\n"))
    rekeyed = stream("--rekey", "--passphrase-file", f"/dev/fd/{old}", "--new-passphrase-file", f"/dev/fd/{new}",
                     input=sealed, pass_fds=(old, new)).out
    secret_file("../new-words", b"battery staple\n")
    expect_same(PLAIN, stream("-d", "--passphrase-file", "../new-words", input=rekeyed).out)


def test_the_maximum_number_of_slots(key):
    shutil.copy("sealed", "../copy")
    got = stream("--rekey", "-f", "sealed", "-v", "-k", key, *MANY.split(), "-i", "../copy")
    assert got.notes[0] == f"the key from {key} opens the input" and "now has 32 key file slots" in got.notes[1]
    expect_same(PLAIN, stream("-q", "-d", "-k", "new", "-i", "../copy").out)
