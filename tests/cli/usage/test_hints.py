"""Common mistakes have a hint that names what was probably meant."""

import os

import pytest

from programs import NOT_ENCRYPTED, REPEAT_K, keygen, parts, some_bytes, stream

IN_PARTS = "--part only decrypts; to encrypt a file in parts, use gpuaes-parts"


@pytest.fixture(autouse=True)
def files(key):
    os.mkdir("photos")
    with open("disk.img", "wb") as file:
        file.write(some_bytes(1000))
    stream("-k", key, "disk.img", "-o", "disk.sealed")
    keygen("-o", "other.key")
    keygen("--x25519", "-o", "identity")


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
        # Options that take one file.
        ("-d -k KEY other.key disk.sealed", 2, "more than one input file was given; only --test and --info accept several",
         "-o, -k and -R each take one file; repeat -k or -R for another key or recipients file"),
        ("-t -k KEY other.key", 4, "other.key: the input looks like a key, not like an encrypted file", REPEAT_K),
        ("-t -k KEY identity", 4, "identity: the input contains an identity, not an encrypted file", REPEAT_K),
        # Modes that decrypt.
        ("-k KEY --part 0/4 disk.img", 4, "disk.img: the input is not in a known format", IN_PARTS),
        ("-k KEY --part 2 disk.img", 4, "disk.img: the input is not in a known format", IN_PARTS),
        ("-k KEY --range 0:9 disk.img", 4, "disk.img: the input is not in a known format", NOT_ENCRYPTED),
        ("-d -k KEY --part 0/4 disk.img", 4, "disk.img: the input is not in a known format", NOT_ENCRYPTED),
        # Contents.
        ("-k KEY --range 10:1K disk.sealed", 2,
         "the range extends past the end of the plaintext, which has 1000 bytes", "--range OFFSET: decrypts to the end"),
    ],
)  # fmt: skip
def test_hint(key, options, status, error, hint):
    words = options.split() if isinstance(options, str) else options
    result = stream(*(key if word == "KEY" else word for word in words), status=status)
    assert (result.error, result.hint) == (error, hint)


@pytest.mark.parametrize("content", [
    some_bytes(32),
    *(b"0123456789abcdef" * (digits // 16) + end for digits in (32, 48, 64) for end in (b"", b"\n", b" \r\n"))])
def test_files_are_verified_even_if_other_inputs_are_keys(key, content):
    """As in -k *.key FILE, where only the first key belongs to -k."""
    with open("z.key", "wb") as file:
        file.write(content)
    found = stream("-t", "-k", key, "z.key", "disk.sealed", status=4)
    assert (found.out, found.error, found.hint) == (
        b"disk.sealed: ok\n", "z.key: the input looks like a key, not like an encrypted file", REPEAT_K)


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
