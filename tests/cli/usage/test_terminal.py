"""Without --force, ciphertext and binary plaintext are never written to a terminal. If the input must be typed, a
message says so."""

import os
import subprocess
import termios

import pytest

from processes import open_terminal, read_terminal
from programs import IV, PATIENCE, Result, check, expect_same, openssl_ctr, start, start_raw

REMINDER = (b"gpuaes-stream: reading standard input from the terminal; press Ctrl-D at the beginning of a line to end it"
            b"\n")
REFUSED = ("gpuaes-stream: error: refusing to write {} to a terminal\n"
           "gpuaes-stream: hint: redirect the output, name a file with -o, or use --force\n")
BINARY = [b"\0", b"text\n\x07", b"\x7f", b"\xc2\x9b", b"\xff"]
BLOCKS = b"sixteen letters\n" * 4
PIPES = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}


def finish(child, options, status, input=None):
    out, err = child.communicate(input, PATIENCE)
    return check(Result(child.returncode, out or b"", err.decode()), options, status)


@pytest.mark.parametrize("options, prefix", [([], ""), (["-o", "TERMINAL"], "--output: ")])
def test_ciphertext_is_not_written_to_a_terminal(key, options, prefix):
    master, slave = open_terminal()
    options = [os.ttyname(slave) if option == "TERMINAL" else option for option in options]
    child = start_raw(key, *options, **PIPES, stdout=subprocess.DEVNULL if "-o" in options else slave)
    os.close(slave)
    result = finish(child, options, 2, b"some text")
    assert result.error == f"{prefix}refusing to write ciphertext to a terminal"
    assert result.hint == "redirect the output, name a file with -o, or use --force"
    assert read_terminal(master) == b""
    os.close(master)


@pytest.mark.parametrize("options, first, data, status, expected", [
    *(("-d", b"", text, 0, text) for text in (b"some text", "naïve\ttext\r\n… and 𝄞\f\n".encode(), b"")),
    *(("-d", b"", binary, 2, b"") for binary in BINARY),
    *(("-d --force", b"", binary, 0, binary) for binary in BINARY),
    ("--force", b"", b"some text", 0, b"some text"),  # in raw format, encryption is the same as decryption
    # Chunks before a binary one are shown. A character may span two chunks.
    ("-d -b 64", BLOCKS, b"text and \x1b[31m", 2, BLOCKS),
    ("-d -b 64", b"x" * 63 + b"\xc3", b"\xa9!", 0, b"x" * 63 + b"\xc3\xa9!"),
    ("-d -b 64", b"x" * 63 + b"\xc2", b"\x9b31m", 2, b"x" * 63 + b"\xc2"),  # a C1 control character
])
def test_binary_plaintext_is_not_written_to_a_terminal(key, options, first, data, status, expected):
    """Not without --force, but text is. `first` is sent before `data`, in a separate chunk."""
    master, slave = open_terminal()
    settings = termios.tcgetattr(slave)
    settings[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, settings)
    child = start_raw(key, *options.split(), **PIPES, stdout=slave)
    os.close(slave)
    sent = openssl_ctr(first + data)
    os.write(child.stdin.fileno(), sent[: len(first)])
    shown = read_terminal(master, lambda seen: len(seen) >= len(first))
    result = finish(child, options, status, sent[len(first) :])
    assert shown + read_terminal(master) == expected
    os.close(master)
    assert result.err == (REFUSED.format("binary plaintext") if status else "")


def type_in(options, keys, status, reminder):
    """Runs the program on a terminal, where `keys` are pressed when it waits for input. Returns the result."""
    master, slave = open_terminal()
    child = start("gpuaes-stream", *options, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(slave)
    seen = b""
    if reminder:
        seen = read_terminal(child.stderr.fileno(), lambda seen: REMINDER in seen or child.poll() is not None)
    os.write(master, keys)
    result = finish(child, options, status)
    os.close(master)
    assert (REMINDER in seen + result.err.encode()) == reminder
    return result


@pytest.mark.parametrize("options, keys, reminder", [
    ("-e", b"typed\n\x04", True),
    ("-d", b"typed\n\x04", True),
    ("-e -q", b"typed\n\x04", False),
    ("-e -i typed", b"", False),
])
def test_typed_input(key, options, keys, reminder):
    with open("typed", "wb") as file:
        file.write(b"typed")
    result = type_in(["-f", "raw", "--iv", IV, "-k", key, *options.split()], keys, 0, reminder)
    expect_same(openssl_ctr(b"typed\n" if keys else b"typed"), result.out)


@pytest.mark.parametrize("options, error", [
    ("-k KEY -d", "the input is empty"),
    ("-k KEY --test", "the input is empty"),
    ("--info", "the input is empty"),
    ("-k KEY --rekey --new-key KEY", "the input is not in a format whose keys can be replaced"),
])
def test_one_ctrl_d_ends_an_empty_input(key, options, error):
    result = type_in(options.replace("KEY", key).split(), b"\x04", 4, True)
    assert result.error == error
