"""An error about a file has its name, after the option that named it if the file is missing, empty or of the wrong
kind. If the input is damaged, the error has the byte offset."""

import os

import pytest

from programs import IV, KEY, NOT_ENCRYPTED, RAW, REPEAT_K, keygen, secret_file, some_bytes, stream

PLAIN = some_bytes(60000)
MISSING = "cannot open absent: No such file or directory"
UNKNOWN = "plain: the input is not in a known format"
IDENTITY = "identity: the input contains an identity, not an encrypted file"
TWO = "more than one input file was given; only --test and --info accept several"
USE_O = "-o, -k and -R each take one file; repeat -k or -R for another key or recipients file"
NO_SECRET = "no key or passphrase was given"
SECRETS = "name a key file with -k (gpuaes-keygen makes one) or a recipient with -r, or use -p to enter a passphrase"
NO_FOLDER = "cannot create a temporary file next to absent/out: No such file or directory"
SALVAGE = "use --salvage to recover the undamaged parts"
HEAD_COPY = "if the header is damaged, put back a copy of it (gpuaes-recipes(7))"
DAMAGE = "the input is corrupt at byte 32975; 32768 bytes of plaintext before that were verified"
CUT_HEAD = "the input is truncated after byte 100, in its header; nothing was written"
HALF = "requires a key of 32 bytes; the key in half is 16 bytes long"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with intact and damaged files, which no test changes."""
    folder = tmp_path_factory.mktemp("files")
    secret_file(folder / "key", KEY)
    secret_file(folder / "other", PLAIN[-32:])
    secret_file(folder / "half", PLAIN[:16])
    keygen("--x25519", "-o", folder / "identity")
    identity = (folder / "identity").read_bytes()
    whole = stream("-q", "-k", folder / "key", input=PLAIN).out
    for name, data in {
        "plain": PLAIN,
        "empty": b"",
        "whole": whole,
        "bad": whole[:32980] + bytes([whole[32980] ^ 1]) + whole[32981:],  # the third segment begins at byte 32975
        "short": whole[:16575],
        "cut-head": whole[:100],
        "later": whole.replace(b"gpuaes-stream/1", b"gpuaes-stream/2", 1),
        "salted": stream("-q", "-f", "openssl", "--passphrase-file", folder / "identity", input=PLAIN).out,
        "recipient": keygen("-y", folder / "identity").out,
        "-": identity,
    }.items():
        (folder / name).write_bytes(data)
    return folder


@pytest.mark.parametrize("options, status, error, hint", [
    # Damaged segments.
    ("-q -k key -d -i bad", 4, f"bad: {DAMAGE}", SALVAGE),
    ("-q -k key -d < bad", 4, DAMAGE, SALVAGE),
    ("-q -k key --range 40000:1 -i bad", 4,
     "bad: the input is corrupt at byte 32975; 0 bytes of plaintext before that were verified", SALVAGE),
    ("-q -k key -d -i short", 4,
     "short: the input is truncated after byte 16575; 16384 bytes of plaintext before that were verified", SALVAGE),
    ("-q -k key --range 0:1 -i short", 4,
     "short: the input is truncated after byte 16575; 0 bytes of plaintext before that were verified", SALVAGE),
    ("-q -k key --salvage -i short", 4,
     "short: the input is truncated after byte 16575; 16384 bytes of plaintext before that were verified; "
     "nothing after that was recovered", ""),
    # Headers.
    ("-q -k key -d -i cut-head", 4, f"cut-head: {CUT_HEAD}", ""),
    ("-q -k key -d < cut-head", 4, CUT_HEAD, ""),
    ("-q -k key --salvage -i cut-head", 4, f"cut-head: {CUT_HEAD}", HEAD_COPY),
    ("-q -k key -d -i plain", 4, UNKNOWN, NOT_ENCRYPTED),
    ("-q -k key --salvage -i plain", 4, UNKNOWN, HEAD_COPY),
    ("-q -k key --rekey --new-key key -i plain", 4, "plain: the input is in no format whose keys can be replaced",
     "--rekey replaces the keys of sealed files and age files"),
    ("-q -k key -d -f sealed -i later", 1, "later: the input uses a version of the sealed format other than 1",
     "try a later version of gpuaes-stream"),
    # Keys.
    ("-k other -k half -i plain", 2, f"the sealed format {HALF}", ""),
    # Files that cannot be read or written.
    pytest.param("RAW -k key -i /proc/self/mem", 1, "cannot read /proc/self/mem at byte 0: Input/output error", "",
                 marks=pytest.mark.root),  # the program's memory is closed to other users
    # Missing files.
    ("--key absent -i plain", 1, f"--key: {MISSING}", ""),
    ("--passphrase-file absent -i plain", 1, f"--passphrase-file: {MISSING}", ""),
    ("-q -k key absent", 1, MISSING, ""),
    ("-r @absent -i plain", 1, f"--recipients-file: {MISSING}", ""),
    ("--encrypt -k key -i absent", 1, f"--input: {MISSING}", ""),
    ("-q -k key -i plain --output absent/out", 1, f"--output: {NO_FOLDER}", ""),
    ("-q -k key -i plain --stats absent/out", 1, f"--stats: {NO_FOLDER}", ""),
    # Empty files.
    ("-k empty -i plain", 2, "--key: empty is empty",
     "a key is 16, 24 or 32 raw bytes, or 32, 48 or 64 hexadecimal digits"),
    ("-r @empty -i plain", 2, "--recipients-file: empty contains no recipients",
     "a recipient is the line that gpuaes-keygen -y prints for an identity"),
    ("-q -k key -d -i empty", 4, "empty: the input is empty", ""),
    # An identity instead of the input.
    ("-q -k key -d -i identity", 4, IDENTITY, REPEAT_K),
    ("-q -k key --test -i identity", 4, IDENTITY, REPEAT_K),
    ("-d -i identity < whole", 2, "identity contains an identity, not an encrypted file",
     "name the identity file with -k, and the encrypted file with -i or without an option"),
    ("-d -i absent < whole", 1, f"--input: {MISSING}", ""),
    ("-d -i recipient < whole", 4, "recipient: the input is not in a known format", NOT_ENCRYPTED),
    ("-d < identity", 4, "the input contains an identity, not an encrypted file", REPEAT_K),
    # Input in a format that was not named.
    ("-q -k key -d -f sealed < salted", 4,
     "the input appears to be in the openssl format, which is not authenticated and must be named",
     "-d -f openssl decrypts what openssl enc -aes-256-ctr -pbkdf2 wrote; for other ciphers, such as -aes-256-cbc, use openssl "
     "enc -d"),
    # Options are checked before the input.
    *((f"< {name}", 2, NO_SECRET, SECRETS) for name in ("plain", "whole", "empty")),
    *((f"-d -k key --iv {IV} < {name}", 2, "--iv requires -f raw", "") for name in ("plain", "whole", "empty")),
    (f"-k key --iv {IV} < plain", 2, "--iv requires -f raw", ""),
    *((f"-q -k key {mode} whole whole", 2, TWO, USE_O)
      for mode in ("-e", "-d", "--range 0:1", "--salvage", "--rekey --new-key key")),
])
def test_error(folder, options, status, error, hint):
    words, _, standard_input = options.partition("< ")
    words = words.replace("RAW", " ".join(RAW)).split()
    with open(folder / standard_input if standard_input else os.devnull, "rb") as file:
        result = stream(*words, status=status, cwd=folder, stdin=file)
    assert (result.error, result.hint) == (error, hint)


def test_encryption_accepts_an_identity(folder):
    sealed = stream("-q", "-k", "key", "-i", "identity", cwd=folder).out
    assert stream("-q", "-k", "key", "-d", cwd=folder, input=sealed).out == (folder / "identity").read_bytes()


