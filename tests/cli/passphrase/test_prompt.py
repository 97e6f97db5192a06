"""-p asks on the controlling terminal without echo, twice to encrypt and once to decrypt, while standard input and
output are pipes. The terminal settings are restored, even after ^C."""

import os
import pathlib
import signal
import subprocess
import termios
import time

import pytest

from damage import QUICK, open_independently
from processes import expect_death_by, open_terminal, read_terminal
from programs import KEY, STOP_SIGNALS, expect_same, files_here, some_bytes, start, stream
from terminals import at_terminal, await_question, in_session

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402

PLAIN = some_bytes(20000)
SECRET = "Correct-Horse-7"
OTHERS = ["Horse", f"{SECRET} ", "", SECRET + "\0" * 1985]
ONCE, NEW = ["Enter passphrase:"], ["Enter passphrase:", "Confirm passphrase:"]
NEW_LATER = ["Enter new passphrase:", "Confirm passphrase:"]
DIFFER = "the passphrases didn't match"
WRONG = "the passphrase does not open the input"


@pytest.fixture(scope="module")
def sealed():
    return sf.seal(PLAIN, [KEY], SECRET.encode(), 10)


@pytest.mark.parametrize("again", [0, 2])
def test_asks_for_a_new_passphrase_until_the_answers_are_equal(again):
    answers = [text for other in OTHERS[:again] for text in (SECRET, other)]
    result, lines = at_terminal("-p", *QUICK, input=PLAIN, answers=[*answers, f"{SECRET}-new", f"{SECRET}-new"])
    assert lines == [*([*NEW, DIFFER] * again), *NEW]
    assert open_independently(result.out, passphrase=f"{SECRET}-new".encode()) == (0, PLAIN)


def test_both_answers_can_be_pasted_at_once():
    result, lines = at_terminal("-p", *QUICK, input=PLAIN, answers=[f"{SECRET}\n{SECRET}\n".encode()])
    assert lines == NEW
    result, lines = at_terminal("-p", *QUICK, "-d", input=result.out, answers=[SECRET])
    assert lines == ONCE
    expect_same(PLAIN, result.out)


NOT_FOR_AGE = "the output is a sealed file, which age cannot open; add -f age for one that it can open"


@pytest.mark.parametrize("options, notes", [
    ("-p", [NOT_FOR_AGE]),
    ("-p -a", [NOT_FOR_AGE]),
    ("-q -p", []),
    ("-p -f sealed", []),
    ("-p -f age", []),
    ("-p -k KEY", []),
    ("-p --label text", []),
])
def test_a_passphrase_alone_makes_a_file_that_age_cannot_open(key, options, notes):
    """age has -p, too. Other options show that the sealed format is wanted."""
    result, _ = at_terminal(*options.replace("KEY", key).split(), *QUICK, input=PLAIN, answers=[SECRET, SECRET])
    assert result.notes == notes
    if notes:
        assert at_terminal("-p", "-d", *QUICK, input=result.out, answers=[SECRET])[0].notes == []


def test_asks_once_for_several_files(sealed):
    for name in "one", "two":
        pathlib.Path(name).write_bytes(sealed)
    result, lines = at_terminal("-p", *QUICK, "--test", "one", "two", "one", answers=[SECRET])
    assert (result.out, lines) == (b"one: ok\ntwo: ok\none: ok\n", ["Enter passphrase for one:"])


def test_openssl_format():
    salted = b"Salted__12345678" + PLAIN
    result, lines = at_terminal("-p", *QUICK, "-d", "-f", "openssl", input=salted, answers=[SECRET])
    assert (len(result.out), lines) == (len(PLAIN), ONCE)


@pytest.mark.parametrize("options, answers, status, error, lines", [
    (["-p", *QUICK, "-d"], ["Horse"] * 3, 3, WRONG, [*ONCE, WRONG, *ONCE, WRONG, *ONCE]),
    (["-p", *QUICK], [SECRET, OTHERS[1], SECRET, OTHERS[2], SECRET, OTHERS[3]], 2, DIFFER, [*NEW, DIFFER, *NEW, DIFFER, *NEW]),
    (["-p", *QUICK], [""], 2, "the passphrase from the terminal is empty", ONCE),
    (["--rekey", "-p", "--new-passphrase"], ["Horse"] * 3, 3, WRONG, [*ONCE, WRONG, *ONCE, WRONG, *ONCE]),
    (["--rekey", "-k", "KEY", "--new-passphrase"], [SECRET, "Horse"] * 3, 2, DIFFER,
     [*NEW_LATER, DIFFER, *NEW_LATER, DIFFER, *NEW_LATER]),
    (["-p", *QUICK], [b"\x03"], -signal.SIGINT, "", ONCE),
    (["-p", *QUICK], [SECRET, b"\x03"], -signal.SIGINT, "", NEW),
    (["-p", *QUICK, "-d"], [b"\x03"], -signal.SIGINT, "", ONCE),
])
def test_without_the_right_answer_nothing_is_written(key, sealed, options, answers, status, error, lines):
    options = [key if option == "KEY" else option for option in options]
    result, seen = at_terminal(*options, input=sealed, answers=answers, status=status)
    assert (result.out, result.error, seen) == (b"", error, lines)


def test_a_signal_at_the_prompt_leaves_no_file(sealed):
    for number in STOP_SIGNALS:
        result, _ = at_terminal("-p", *QUICK, "-o", "unfinished", input=sealed, answers=[number], status=-number)
        assert result.out == b"" and files_here() == [], number


@pytest.mark.parametrize("typed, resume", [(b"Corr", b""), (b"Corr\x13", b"\x11")], ids=["alone", "output stopped"])
def test_a_part_of_an_answer_does_not_stay_in_the_terminal(sealed, typed, resume):
    main, slave = open_terminal()

    def next_line():
        settings = termios.tcgetattr(slave)
        child = start("gpuaes-stream", "-p", *QUICK, "-d", stdin=subprocess.PIPE)
        child.stdin.write(sealed)
        child.stdin.close()
        await_question(child, main)
        os.write(main, typed)
        time.sleep(0.05)  # until the terminal has received it
        expect_death_by(child, signal.SIGTERM)
        assert termios.tcgetattr(slave) == settings
        os.write(main, resume + b"next\n")
        return read_terminal(slave, lambda seen: seen.endswith(b"\n"))

    assert in_session(slave, next_line) == b"next\n"


@pytest.mark.parametrize("options, answers, lines, secret", [
    (["-p", "--new-passphrase"], [SECRET, "Horse", "Horse"], [*ONCE, *NEW_LATER], {"passphrase": b"Horse"}),
    (["-k", "KEY", "--new-passphrase"], ["Horse", "Horse"], NEW_LATER, {"passphrase": b"Horse"}),
    (["-p", "--new-key", "KEY"], [SECRET], ONCE, {"key": KEY}),
])
def test_rekey_asks_for_the_old_passphrase_and_then_for_the_new_one(key, sealed, options, answers, lines, secret):
    options = [key if option == "KEY" else option for option in options]
    result, seen = at_terminal("--rekey", *options, input=sealed, answers=answers)
    assert seen == lines
    assert open_independently(result.out, **secret) == (0, PLAIN)


@pytest.mark.parametrize("options", ["-pq -l cpu:1 -b 16K", "-p -l cpu:1 -b 16K -d", "-pq plain", "-pq -"])
def test_there_is_no_terminal(sealed, options):
    pathlib.Path("plain").write_bytes(PLAIN)
    result = stream(*options.split(), input=sealed, status=1, start_new_session=True)
    assert result.err == ("gpuaes-stream: error: cannot ask for the passphrase: there is no terminal\n"
                          "gpuaes-stream: hint: use --passphrase-file or --passphrase-command\n")
