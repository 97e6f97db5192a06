"""Common mistakes have a hint that names what was probably meant."""

import os

import pytest

from programs import keygen, parts, some_bytes, stream


@pytest.fixture(autouse=True)
def files(key):
    os.mkdir("photos")
    with open("disk.img", "wb") as file:
        file.write(some_bytes(1000))
    stream("-k", key, "disk.img", "-o", "disk.sealed")


@pytest.mark.parametrize(
    "options, status, error, hint",
    [
        # Commands and files.
        ("-k KEY -o out tar -c photos", 2, "tar is a command, not a file", "put -- before the command"),
        ("-k KEY tar", 2, "tar is a command, not a file", "put -- before the command"),
        ("-d -k KEY tar", 1, "cannot open tar: No such file or directory", ""),
        ("-k KEY -- disk.img", 2, "disk.img is a file, not a command", "to encrypt a file, name it with -i instead"),
        ("-k KEY -- ./disk.img", 2, "./disk.img is a file, not a command", "to encrypt a file, name it with -i instead"),
        ("encrypt -k KEY disk.img", 2, "encrypt is not a file", "perhaps you meant --encrypt"),
        ("decrypt -k KEY disk.sealed", 2, "decrypt is not a file", "perhaps you meant --decrypt"),
        ("-k KEY photos", 1, "photos is a directory", "to encrypt a directory, run gpuaes-stream ... -- tar -c DIR"),
        ("--list disk.sealed", 2, "--list-lanes does not accept a file", "to describe a file, use --info"),
        # Options.
        ("--identity KEY", 2, "unknown option '--identity'", "perhaps you meant --key"),
        ("--verify disk.sealed", 2, "unknown option '--verify'", "perhaps you meant --test"),
        ("--gpu", 2, "unknown option '--gpu'", "perhaps you meant --lanes cuda"),
        # Contents.
        ("-k KEY --range 10:1K disk.sealed", 2,
         "the range extends past the end of the plaintext, which has 1000 bytes", "--range OFFSET: decrypts to the end"),
    ],
)  # fmt: skip
def test_hint(key, options, status, error, hint):
    words = options.split() if isinstance(options, str) else options
    result = stream(*(key if word == "KEY" else word for word in words), status=status)
    assert (result.error, result.hint) == (error, hint)


def test_a_file_is_read_even_if_a_command_has_its_name(key):
    with open("tar", "wb") as file:
        file.write(b"text")
    assert stream("-d", "-k", key, input=stream("-k", key, "tar").out).out == b"text"


def test_keygen_with_a_name_but_no_option():
    result = keygen("my.key", status=2)
    assert result.error == "a file name requires -o or -y"
    assert result.hint == "use -o FILE to write to a file, or -y FILE to print its recipients"


def test_names_of_other_programs_are_explained_only_if_there_is_such_an_option():
    assert keygen("--verify", status=2).hint == "run with --help for a list of options"
    assert parts("seal", "--gpu", status=2).hint == "perhaps you meant --lanes cuda"
