"""Which secret the input needs: what the program asks for on a terminal, and what it names."""

import os
import pathlib
import shutil

import pytest

from armor import armor
from programs import keygen, some_bytes, stream
from terminals import at_terminal

pytest.importorskip("cryptography")
import age_format as age  # noqa: E402
import sealed_format as sf  # noqa: E402

PLAIN = some_bytes(1000)
WRONG = "the passphrase does not open the input"
EMPTY = "the passphrase from the terminal is empty"
TOO_LONG = "the passphrase from the terminal is longer than 1024 bytes"


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """A folder of secrets and, in `here`, sealed files that are named after the secrets that open them."""
    folder = tmp_path_factory.mktemp("sealed")
    (folder / "here").mkdir()
    umask = os.umask(0o077)
    (folder / "words").write_text("two words\n")
    (folder / "key").write_bytes(bytes(range(32)))
    recipient = keygen("--x25519", "-o", folder / "identity").out.decode().strip()
    for name, passphrase in ("words", b"two words"), ("other", b"other words"):
        (folder / "here" / name).write_bytes(sf.seal(PLAIN, passphrase=passphrase, log_n=10))
    both = sf.seal(PLAIN, [bytes(range(32))], passphrase=b"two words", log_n=10)
    (folder / "here" / "key-and-words").write_bytes(both)
    file_key = os.urandom(16)
    stanza = age.scrypt_stanza(file_key, b"two words")
    (folder / "here" / "age-words").write_bytes(age.seal(PLAIN, [stanza], file_key))
    for name, options in ("key", ["-k", "key"]), ("recipient", ["-f", "sealed", "-r", recipient]):
        stream("-q", *options, "-o", f"here/{name}", input=PLAIN, cwd=folder)
    os.umask(umask)
    return folder


@pytest.fixture(autouse=True)
def files(work, sealed):
    shutil.copytree(sealed, work.parent, dirs_exist_ok=True)


@pytest.mark.parametrize("options", [
    "-d words", "-d -p words", "-d -i ./words", "-d -f sealed words", "--range 0:1000 words", "--salvage words",
    "-d -p key-and-words", "-d age-words", "-d -p -f age age-words", "--range 0:1000 age-words", "--salvage age-words"])
def test_asks_for_the_passphrase_of_a_file(options):
    *options, name = options.split()
    result, questions = at_terminal(*options, name, answers=["two words"])
    assert (result.out, questions) == (PLAIN, [f"Enter passphrase for {name}:"])


def test_standard_input_has_no_name():
    for options in (["-d"], ["-d", "-p"]):
        result, questions = at_terminal(*options, answers=["two words"], stdin=open("words"))
        assert (result.out, questions) == (PLAIN, ["Enter passphrase:"])


def test_armored_input():
    pathlib.Path("armored").write_bytes(armor(pathlib.Path("words").read_bytes()))
    assert at_terminal("-d", "armored", answers=["two words"])[0].out == PLAIN


def test_rekey_asks_for_the_old_passphrase():
    assert at_terminal("--rekey", "--new-key", "../key", "words", answers=["two words"])[1] == ["Enter passphrase for words:"]
    assert stream("-d", "-k", "../key", "words").out == PLAIN


@pytest.mark.parametrize("option", ["-d", "-dp"])
def test_asks_three_times(option):
    result, questions = at_terminal(option, "words", answers=["one", "other words", "two words"])
    assert result.out == PLAIN
    assert questions == ["Enter passphrase for words:", WRONG, "Enter passphrase for words:", WRONG, "Enter passphrase for words:"]
    result, _ = at_terminal(option, "words", answers=["one", "two", "three"], status=3)
    assert (result.out, result.error) == (b"", f"words: {WRONG}")


@pytest.mark.parametrize("option", ["-d", "-dp"])
@pytest.mark.parametrize("bad, complaint", [("", EMPTY), ("x" * 1025, TOO_LONG)])
def test_an_empty_or_long_line_is_one_of_three_attempts(option, bad, complaint):
    result, questions = at_terminal(option, "words", answers=[bad, bad, "two words"])
    assert (result.out, questions) == (PLAIN, ["Enter passphrase for words:", *[complaint, "Enter passphrase for words:"] * 2])
    result, questions = at_terminal(option, "words", answers=["one", bad, bad], status=2)
    assert (result.out, result.error) == (b"", complaint)
    assert questions == ["Enter passphrase for words:", WRONG, "Enter passphrase for words:", complaint, "Enter passphrase for words:"]
    result, _ = at_terminal(option, "words", answers=[bad, bad, "one"], status=3)
    assert (result.out, result.error) == (b"", f"words: {WRONG}")


def test_several_files_with_different_passphrases():
    """Earlier answers are tried before a question."""
    result, questions = at_terminal("--test", "words", "words", "other", "words", answers=["two words", "other words"])
    assert result.out == b"words: ok\nwords: ok\nother: ok\nwords: ok\n"
    assert [each for each in questions if each != WRONG] == [f"Enter passphrase for {name}:" for name in ("words", "other")]


def test_the_passphrase_of_another_file_is_not_one_of_three_attempts():
    answers = ["two words", "one", "three", "other words"]
    result, questions = at_terminal("--test", "words", "other", answers=answers)
    assert result.out == b"words: ok\nother: ok\n"
    assert questions == ["Enter passphrase for words:", *[WRONG, "Enter passphrase for other:"] * 3]
    answers = ["two words", "one", "three", "four"]
    result, _ = at_terminal("--test", "words", "other", "words", answers=answers, status=3)
    assert (result.out, result.error) == (b"words: ok\nwords: ok\n", f"other: {WRONG}")


def test_a_name_cannot_control_the_terminal():
    os.rename("words", "a\x1b[2Jb")
    assert at_terminal("-d", "a\x1b[2Jb", answers=["two words"])[1] == ["Enter passphrase for a?[2Jb:"]


@pytest.mark.parametrize("name, error, hint", [
    ("key", "the input was encrypted with a key file, and none was given", "name the key file with -k"),
    ("recipient", "the input was encrypted for an X25519 recipient, and no X25519 identity was given",
     "name the identity file with -k"),
    ("key-and-words", "no key or passphrase was given; the input can be opened with a key file or a passphrase",
     "name a key or identity file with -k, or use -p to enter a passphrase"),
])
def test_names_what_the_input_needs(name, error, hint):
    for result in (
        at_terminal("-d", name, status=2)[0],
        stream("-d", name, status=2, start_new_session=True),
        stream("-d", input=pathlib.Path(name).read_bytes(), status=2, start_new_session=True),
        stream("--test", name, status=2, start_new_session=True),
        stream("--rekey", "--new-key", "../key", name, status=2, start_new_session=True),
    ):
        assert (result.error.removeprefix(f"{name}: "), result.hint, result.out) == (error, hint, b"")


def test_without_a_terminal():
    result = stream("-d", "words", status=2, start_new_session=True)
    assert result.error == "words: the input was encrypted with a passphrase, and none was given"
    assert result.hint == "there is no terminal for a prompt; use --passphrase-file or --passphrase-command"
    result = stream("-dp", "words", status=1, start_new_session=True)
    assert result.error == "cannot ask for the passphrase: there is no terminal"
    assert result.hint == "use --passphrase-file or --passphrase-command"


def test_input_that_is_not_sealed():
    pathlib.Path("plain").write_bytes(PLAIN)
    assert "format" in stream("-d", "plain", status=4, start_new_session=True).error


@pytest.mark.parametrize("options, secret", [
    ("-k ../key key", "key from ../key"), ("-k ../key2 -k ../key key", "key from ../key"),
    ("-k ../identity recipient", "identity from ../identity"), ("--passphrase-file ../words words", "passphrase"),
    ("-k ../key --passphrase-file ../words key-and-words", "key from ../key"),
    ("-k ../key2 --passphrase-file ../words key-and-words", "passphrase"),
])
def test_verbose_names_the_secret_that_opens_the_input(options, secret):
    pathlib.Path("../key2").write_bytes(os.urandom(32))
    notes = stream("-d", "-v", *options.split()).notes
    assert [each for each in notes if each.endswith(" opens the input")] == [f"the {secret} opens the input"]
    assert "opens the input" not in stream("-d", *options.split()).err
