"""A passphrase is asked for once in a run with several files, and again only for a file that no earlier answer opens."""

import os
import pathlib
import time

import pytest

from processes import expect_exit, read_terminal, start_on_terminal
from programs import KEY, secret_file
from terminals import at_terminal, await_question

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402

WRONG = "the passphrase does not open the input"
SEALED_NOTE = "the output is a sealed file, which age cannot open; add -f age for one that it can open"
NAMES = [f"file-{number}" for number in range(5)]


def seal(name, passphrase):
    pathlib.Path(f"{name}.sealed").write_bytes(sf.seal(name.encode(), [KEY], passphrase, 10))


def test_to_encrypt_and_to_decrypt():
    for name in NAMES:
        pathlib.Path(name).write_text(name)
    result, lines = at_terminal("-p", "--output-dir", ".", *NAMES, answers=["words", "words"])
    assert lines == ["Enter passphrase:", "Confirm passphrase:"]
    assert result.notes == [SEALED_NOTE, "5 files encrypted"]
    sealed = [f"{name}.sealed" for name in NAMES]
    result, lines = at_terminal("-d", "-p", "--output-dir", "out", *sealed, answers=["words"])
    assert len(lines) == 1 and result.notes == ["5 files decrypted"]
    for name in NAMES:
        assert pathlib.Path("out", name).read_text() == name


def test_a_second_answer_is_for_all_files():
    for name in NAMES:
        seal(name, b"words")
    sealed = [f"{name}.sealed" for name in NAMES]
    result, lines = at_terminal("-d", "-p", "--output-dir", "out", *sealed, answers=["word", "words"])
    assert [line for line in lines if "Enter" not in line] == [WRONG] and len(lines) == 3
    assert sorted(os.listdir("out")) == NAMES and result.notes == ["5 files decrypted"]


def test_there_are_three_attempts_for_each_file():
    """An answer that opened nothing is not tried for the next file."""
    for name in NAMES[:3]:
        seal(name, b"words")
    seal("other", b"other words")
    sealed = [f"{name}.sealed" for name in ("other", *NAMES[:3])]
    result, lines = at_terminal("-d", "-p", "--output-dir", "out", *sealed, answers=["words"] * 4, status=3)
    assert lines.count(WRONG) == 2 and result.error == "other.sealed: the passphrase does not open the input"
    assert result.notes == ["3 of 4 files decrypted, 1 failed"] and sorted(os.listdir("out")) == NAMES[:3]


MODES = [["-d", "--output-dir", "out"], ["--test"], ["--rekey", "--new-key", "new"]]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode[0])
def test_files_with_two_passphrases(mode):
    """Both are asked for once, since earlier answers are tried first."""
    secret_file("new", os.urandom(32))
    names = [f"{number}-{word}" for number in range(4) for word in ("one", "two")]
    for name in names:
        seal(name, name[2:].encode() + b" words")
    sealed = [f"{name}.sealed" for name in names]
    result, lines = at_terminal("-p", *mode, *sealed, answers=["one words", "two words"])
    questions = [line for line in lines if line.startswith("Enter passphrase for")]
    assert len(questions) == 2 and questions[0] == "Enter passphrase for 0-one.sealed:", lines
    assert lines.count(WRONG) == 1, lines
    if mode[0] == "--test":
        assert result.out.decode().count(": ok") == len(names)
    else:
        assert any(note.startswith("8 files ") for note in result.notes), result.notes


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode[0])
def test_each_file_that_needs_another_passphrase_has_three_attempts(mode):
    secret_file("new", os.urandom(32))
    for name in "one", "two":
        seal(name, f"{name} words".encode())
    answers = ["wrong 1", "wrong 2", "one words", "wrong 3", "wrong 4", "two words"]
    _, lines = at_terminal("-p", *mode, "one.sealed", "two.sealed", answers=answers)
    assert lines.count(WRONG) == 5 and len(lines) >= 11


def test_progress_begins_after_the_question():
    for name in NAMES:
        seal(name, b"words")
    child, main = start_on_terminal("gpuaes-stream", "-Pdp", "--output-dir", "out", *(f"{name}.sealed" for name in NAMES))
    await_question(child, main)
    time.sleep(0.5)  # the line would be drawn after 0.2 s
    os.write(main, b"words\n")
    seen = read_terminal(main).decode().split("\r\n")
    expect_exit(child, 0)
    assert seen[0] == "" and seen[1].rpartition("\r")[2].startswith("5 files: "), seen
    assert seen[2:] == ["gpuaes-stream: 5 files decrypted", ""]
