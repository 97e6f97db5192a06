"""A passphrase is read up to its newline and no further. If a secret and the input, or two secrets, come from the
same file under any name, the program refuses before it reads anything."""

import os
import pathlib

import pytest

from programs import KEY, expect_same, keygen, secret_file, some_bytes, stream

PLAIN = some_bytes(100000)
WORDS = b"correct horse battery staple\n"
STDIN = "standard input"


@pytest.fixture(autouse=True)
def files(work):
    pathlib.Path("plain").write_bytes(PLAIN)
    secret_file("words", WORDS)
    secret_file("key", KEY)
    os.mkfifo("fifo")


def expect_refused(options, first, second, place, from_file=True):
    """The error, and that nothing was read from standard input, which is a pipe and also, with from_file, a file."""
    reader, writer = os.pipe()
    os.write(writer, WORDS + bytes(3000))
    os.close(writer)
    with open("words") as file:
        for stdin in (reader, file) if from_file else (reader,):
            result = stream(*options.split(), stdin=stdin, status=2)
            assert result.error == f"{first} and {second} are both read from {place}"
            assert result.hint == "use a different file for one of them"
        assert os.lseek(file.fileno(), 0, os.SEEK_CUR) == 0
    assert os.read(reader, 10000) == WORDS + bytes(3000)
    os.close(reader)
    assert not os.path.exists("out")


@pytest.mark.parametrize("name", ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
def test_two_of_them_from_standard_input(name):
    place = STDIN if name == "-" else name
    for option, first in (("-k", "--key"), ("--passphrase-file", "--passphrase-file")):
        for options in ("-e", "-d", "--test", "-i -"):
            expect_refused(f"{options} {option} {name}", first, "the input", STDIN)
        for options in ("-i /dev/stdin", "-d -i /dev/fd/0", "--rekey --new-key key -i /dev/stdin -o out"):
            expect_refused(f"{options} {option} {name}", first, "the input", place)
    for options, first, second, place in (
        (f"--rekey -k {name} --new-key /dev/stdin -i plain", "--key", "--new-key", place),
        (f"--rekey --passphrase-file {name} --new-key /dev/stdin -i plain", "--passphrase-file", "--new-key", place),
        (f"--rekey -k key --new-passphrase-file {name}", "--new-passphrase-file", "the input", STDIN),
        (f"--rekey -k key --new-key {name} -o out", "--new-key", "the input", STDIN),
        (f"-k {name} --passphrase-file {name} -i plain", "--key", "--passphrase-file", place),
        (f"-k {name} -k /dev/stdin -i plain", "--key", "--key", place),
        (f"-k {name} -r @{name} -i plain", "--key", "--recipient", place),
        (f"-r @{name}", "--recipient", "the input", STDIN),
    ):
        expect_refused(options, first, second, place, from_file=False)


@pytest.mark.parametrize("options, first, second, place", [
    ("-k - --passphrase-file /dev/stdin -i plain", "--key", "--passphrase-file", STDIN),
    ("-r @-", "--recipient", "the input", STDIN),
    ("-R -", "--recipients-file", "the input", STDIN),
    ("--passphrase-file words -i ./words", "--passphrase-file", "the input", "words"),
    ("-k key -i key", "--key", "the input", "key"),
    ("-d --passphrase-file fifo -i fifo", "--passphrase-file", "the input", "fifo"),
    ("-d -k fifo --passphrase-file fifo -i plain", "--key", "--passphrase-file", "fifo"),
])
def test_two_of_them_from_the_same_file(options, first, second, place):
    expect_refused(options, first, second, place)


def test_secrets_from_another_pipe_than_the_input():
    stream("-q", "--passphrase-file", "words", "-k", "key", "-k", "key", "-i", "plain", "-o", "sealed")
    fifo = os.open("fifo", os.O_RDWR)  # stays open after the passphrase
    os.write(fifo, WORDS)
    expect_same(PLAIN, stream("-q", "-d", "--passphrase-file", "fifo", "-i", "sealed").out)
    os.close(fifo)
    expect_same(PLAIN, stream("-q", "-d", "-k", "/dev/stdin", "-i", "sealed", input=KEY).out)


def test_a_list_of_recipients_is_public_and_may_be_the_input():
    recipient = keygen("--x25519", "-o", "identity").out
    pathlib.Path("recipient").write_bytes(recipient)
    stream("-r", "@recipient", "-i", "recipient", "-o", "out")
    assert stream("-d", "-k", "identity", "-i", "out").out == recipient
