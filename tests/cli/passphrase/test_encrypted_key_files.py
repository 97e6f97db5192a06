"""A key file that is itself encrypted with a passphrase, which the terminal is asked for."""

import pathlib

import pytest

from armor import AGE, SEALED, armor
from programs import FOLDER, keygen, parts, secret_file, some_bytes, stream
from terminals import at_terminal

pytest.importorskip("cryptography")
import age_format as age  # noqa: E402
import sealed_format as sf  # noqa: E402

PLAIN = some_bytes(1000)
ONLY = "a key file can be encrypted only with a passphrase, which is asked for on the terminal"
NO_TERMINAL = "there is no terminal to ask for the passphrase of encrypted"
DECRYPTED = "<(gpuaes-stream -d --passphrase-file FILE encrypted)"
QUESTION = "Enter passphrase for encrypted:"
WORDS = ["two words"]


@pytest.fixture
def recipient():
    """Of the identity in the file `identity`, which opens the file `input`."""
    pathlib.Path("words").write_text("two words\n")
    pathlib.Path("words").chmod(0o600)
    recipient = keygen("--x25519", "-o", "identity").out.decode().strip()
    stream("-r", recipient, "-o", "input", input=PLAIN)
    return recipient


def encrypt(name, format="sealed", armored=False):
    """Makes the file `encrypted` with the passphrase, for which scrypt has less work than usual."""
    data, file_key = pathlib.Path(name).read_bytes(), bytes(range(16))
    made = sf.seal(data, passphrase=b"two words", log_n=10) if format == "sealed" else age.seal(
        data, [age.scrypt_stanza(file_key, b"two words")], file_key)
    kind = {"sealed": SEALED, "age": AGE}[format]
    pathlib.Path("encrypted").write_bytes(armor(made, kind=kind) if armored else made)


def open_with_it(**how):
    return at_terminal("-d", "-k", "encrypted", "input", **how)


@pytest.mark.parametrize("armored", [False, True])
@pytest.mark.parametrize("format", ["age", "sealed"])
def test_opens_files_like_the_key_in_it(recipient, format, armored):
    encrypt("identity", format, armored)
    result, questions = open_with_it(answers=WORDS)
    assert (result.out, questions) == (PLAIN, [QUESTION])


def test_a_key_without_a_line(recipient):
    keygen("-o", "key")
    stream("-k", "key", "-o", "input", "--force", input=PLAIN)
    encrypt("key")
    assert open_with_it(answers=WORDS)[0].out == PLAIN


def test_wrong_passphrases(recipient):
    encrypt("identity")
    result, _ = open_with_it(answers=["wrong 1", "wrong 2", "wrong 3"], status=3)
    assert (result.error, result.out) == ("the passphrase does not open encrypted", b"")


@pytest.mark.parametrize("format", ["age", "sealed"])
def test_without_a_terminal(recipient, format):
    encrypt("identity", format)
    result = stream("-d", "-k", "encrypted", "input", status=2, start_new_session=True)
    assert result.error == f"--key: {NO_TERMINAL}"
    assert result.hint == "use --passphrase-file FILE to read it from a file"
    result = stream("-e", "-k", "encrypted", status=2, start_new_session=True)
    assert result.hint == f"in bash, name {DECRYPTED} instead"
    result = keygen("-y", "encrypted", status=2, start_new_session=True)
    assert result.error == f"--recipient: {NO_TERMINAL}"
    result = stream("-e", "-k", "-", "-i", "words", via="file", input=pathlib.Path("encrypted").read_bytes(), status=2,
                    start_new_session=True)
    assert result.hint == "use gpuaes-stream -d --passphrase-file FILE to decrypt it first"
    pathlib.Path("encrypted").rename("standard input")
    result = keygen("-y", "standard input", status=2, start_new_session=True)
    assert result.hint == f"in bash, name {DECRYPTED.replace('encrypted', 'standard input')} instead"


@pytest.mark.parametrize("given", [["--passphrase-file", "words"], ["--passphrase-command", "cat words"]])
def test_a_passphrase_that_is_given_is_tried_first(recipient, given):
    encrypt("identity")
    assert stream("-d", "-k", "encrypted", *given, "input", start_new_session=True).out == PLAIN
    pathlib.Path("words").write_text("other words\n")
    assert stream("-d", "-k", "encrypted", *given, "input", status=3, start_new_session=True).error == (
        "the passphrase does not open encrypted")
    result, questions = at_terminal("-d", "-k", "encrypted", *given, "input", answers=WORDS)
    assert (result.out, questions) == (PLAIN, [QUESTION])


def test_without_a_terminal_it_can_be_decrypted_by_another_process(recipient):
    encrypt("identity")
    command = DECRYPTED.replace("FILE", "words").replace("gpuaes-stream", str(FOLDER / "gpuaes-stream"))
    in_bash = ["bash", "-c", f'"$@" -k {command}', "bash"]
    assert stream("-d", "input", wrap=in_bash, start_new_session=True).out == PLAIN


def test_encrypted_for_a_recipient(recipient):
    stream("-r", recipient, "-o", "encrypted", "identity")
    result, questions = open_with_it(status=2)
    assert questions == []
    for each in result, stream("-d", "-k", "encrypted", "input", status=2, start_new_session=True):
        assert (each.error, each.hint) == ("--key: encrypted is not encrypted with a passphrase", ONLY)


def test_encrypted_twice(recipient):
    encrypt("identity")
    pathlib.Path("encrypted").rename("once")
    encrypt("once")
    assert open_with_it(answers=WORDS, status=2)[0].error == "--key: encrypted is encrypted twice"
    result, _ = at_terminal("-y", "encrypted", program="gpuaes-keygen", answers=WORDS, status=2)
    assert result.error == "--recipient: encrypted is encrypted twice"


def test_too_long(recipient):
    pathlib.Path("long").write_bytes(b"#" * ((1 << 20) + 1))
    encrypt("long")
    error = open_with_it(answers=WORDS, status=2)[0].error
    assert error == "--key: encrypted contains more than 1048576 bytes, which is too long for a file of keys"


def test_a_file_in_parts(recipient):
    parts("plan", "--passphrase-file", "words", "-n", "1", "-o", "made", "identity")
    parts("seal", "-q", "made", "--part", "0")
    parts("join", "-q", "made", "-o", "encrypted")
    error = open_with_it(answers=WORDS, status=2)[0].error
    assert error == "--key: encrypted is a file in parts, which cannot contain a key"


@pytest.mark.parametrize("kind", ["age", "sealed"])
def test_damaged(recipient, kind):
    encrypt("identity", kind)
    whole = pathlib.Path("encrypted").read_bytes()
    for damaged in whole[:-1] + bytes([whole[-1] ^ 1]), whole[:-20]:
        pathlib.Path("encrypted").write_bytes(damaged)
        result, _ = open_with_it(answers=WORDS, status=4)
        assert result.error.startswith("encrypted: the input is corrupt or truncated at byte ")
        assert result.out == b""
    mac = whole.index(b"\n--- ") + 5 if kind == "age" else sf.parse_header(whole)[1]
    another = b"B" if whole[mac : mac + 1] == b"A" else b"A"
    pathlib.Path("encrypted").write_bytes(whole[:mac] + another + whole[mac + 1 :])
    result, _ = open_with_it(answers=WORDS, status=4)
    assert (result.out, result.hint) == (b"", "copy or download it again")


# --- Only when it is needed ------------------------------------------------------------------------------------------


def test_nothing_is_asked_if_another_key_opens_the_input(recipient):
    encrypt("identity")
    for keys in ["encrypted", "identity"], ["identity", "encrypted"]:
        options = [word for key in keys for word in ("-k", key)]
        assert stream("-d", *options, "input", start_new_session=True).out == PLAIN


def test_nothing_is_asked_if_only_a_passphrase_opens_the_input(recipient):
    encrypt("identity")
    stream("--passphrase-file", "words", "-o", "input", "--force", input=PLAIN)
    result, questions = open_with_it(status=3)
    assert (questions, result.error) == ([], "input: the input was encrypted with a passphrase, and none was given")


def test_other_key_files_are_read_at_once(recipient):
    encrypt("identity")
    pathlib.Path("malformed").write_bytes(b"AGE-SECRET-KEY-1MALFORMED")
    for other, status in ("missing", 1), ("malformed", 2):
        _, questions = at_terminal("-d", "-k", "encrypted", "-k", other, "input", status=status)
        assert questions == []


def test_one_question_for_several_inputs(recipient):
    encrypt("identity")
    pathlib.Path("second").write_bytes(pathlib.Path("input").read_bytes())
    result, questions = at_terminal("-t", "-k", "encrypted", "input", "second", answers=WORDS)
    assert (result.out, questions) == (b"input: ok\nsecond: ok\n", [QUESTION])


def test_a_key_that_opens_a_format_without_slots(work):
    secret_file("key", bytes(range(32)))
    iv = ["-f", "raw", "--iv", "00" * 16]
    stream("-k", "key", *iv, "-o", "input", input=PLAIN)
    encrypt("key")
    assert at_terminal("-d", "-k", "encrypted", *iv, "input", answers=WORDS)[0].out == PLAIN


def test_rekey_with_an_old_and_a_new_one(work):
    for name in "old", "new":
        keygen("-o", name)
    stream("-k", "old", "-o", "input", input=PLAIN)
    encrypt("old")
    at_terminal("--rekey", "-k", "encrypted", "--new-key", "new", "input", answers=WORDS)
    encrypt("old")
    _, questions = at_terminal("--rekey", "-k", "new", "--new-key", "encrypted", "input", answers=WORDS)
    assert questions == [QUESTION]
    assert stream("-d", "-k", "old", "input").out == PLAIN
