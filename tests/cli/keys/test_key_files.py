"""A key file contains 16, 24 or 32 bytes, raw or in hexadecimal. A key with a wrong length or an invalid digit is
refused, without a part of it in the message."""

import os
import pathlib
import subprocess

import pytest

from processes import bytes_in_pipe, wait_for
from programs import (AN_IDENTITY, IV, KEY, PATIENCE, RAW, each_way, expect_same, larger_files, openssl_ctr, raw,
                      secret_file, some_bytes, start, stream)

PLAIN = some_bytes(1000)
HEX = "9d3c71e5b2f8460a" * 4
NOT_DIGITS = "has {} characters, but not all are hexadecimal digits"
FILE_HINT = "a key is 16, 24 or 32 raw bytes, or 32, 48 or 64 hexadecimal digits"


@pytest.mark.parametrize("key", [
    KEY[:16], KEY[:24], KEY, b" " * 14 + b"\n\n", bytes(16), b"\n" * 16, b"0123456789abcdef01234567",
])
def test_raw_bytes_are_used_unchanged(key):
    expect_same(openssl_ctr(PLAIN, key), raw(secret_file("file", key), input=PLAIN).out)


@pytest.mark.parametrize("size", [16, 24, 32])
def test_spaces_and_newlines_may_follow_hexadecimal_digits(batch, work, size):
    expected, digits = openssl_ctr(PLAIN, KEY[:size]), KEY[:size].hex()
    ends = ("", "\n", "\r\n", " ", "\t", " \t \n", "\n\n")
    for way, text in each_way(batch, [case + end for case in (digits, digits.upper()) for end in ends]):
        file = secret_file(work / "file", text.encode())
        expect_same(expected, way(*RAW, "-k", file, input=PLAIN).out, repr(text))


@pytest.mark.parametrize("size", [16, 24, 32])
def test_a_key_may_come_from_a_pipe_in_two_pieces(size):
    for content in (KEY[:size], KEY[:size].hex().encode() + b"\n"):
        reader, writer = os.pipe()
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "pass_fds": [reader]}
        child = start("gpuaes-stream", *RAW, "-k", f"/dev/fd/{reader}", **pipes)
        os.write(writer, content[:9])
        wait_for(lambda: bytes_in_pipe(reader) == 0, "the first piece to be read")
        os.write(writer, content[9:])
        os.close(writer)
        expect_same(openssl_ctr(PLAIN, KEY[:size]), child.communicate(PLAIN, PATIENCE)[0])
        os.close(reader)


def test_a_key_is_never_padded_or_truncated(batch, work):
    sizes = (1, 15, 17, 23, 25, 31, 47, 49, 63, 65, 66, 4096)
    cases = [
        *((some_bytes(size), f"has an invalid length of {size} bytes") for size in sizes),
        *((f"{HEX[:size]}\n".encode(), f"has {size} hexadecimal digits") for size in (33, 47, 49, 62, 63)),
        *((f"{HEX[:at]}{bad}{HEX[at + 1 : size]}\n".encode(), NOT_DIGITS.format(size))
          for bad in "gGz.- x" for size in (48, 64) for at in (0, 1, 20, 47) if (bad, at + 1) != (" ", size)),
        (f"{HEX[:63]}g\n".encode(), NOT_DIGITS.format(64)),
        (f"0x{HEX[:32]}\n".encode(), "has an invalid length of 35 bytes"),
        (f"{HEX[:32]}\n{HEX[:32]}\n".encode(), "has an invalid length of 66 bytes"),
        (KEY + b"\n", NOT_DIGITS.format(32)),
        (KEY + b" ", NOT_DIGITS.format(32)),
        (some_bytes(4097), "is longer than 4096 bytes"),
    ]
    for way, (content, problem) in each_way(batch, cases):
        file = secret_file(work / "file", content)
        result = way("-f", "raw", "--iv", IV, "-k", file, status=2)
        assert (result.out, result.error, result.hint) == (b"", f"--key: the key in {file} {problem}", FILE_HINT)


# Also 32 bytes, the first line that gpuaes-keygen writes.
@pytest.mark.parametrize("content", ["# created: 2026-11-27T05:29:29Z\n", "# created: today\n# only\n", "#", "\n\r\n # no key\n"])
@pytest.mark.parametrize("mode", ["", "-e", "-d", "--rekey --new-key KEY", "--rekey -k KEY --new-key"])
def test_a_file_of_comments_contains_no_identity(key, content, mode):
    secret_file("file", content.encode())
    words = mode.replace("KEY", key).split()
    option = "--new-key" if mode.endswith("--new-key") else "--key"
    result = stream(*words, *(["file"] if option == "--new-key" else ["-k", "file"]), status=2)
    assert (result.error, result.hint) == (f"{option}: file contains no identity", AN_IDENTITY)


def test_a_file_of_empty_lines_is_empty():
    result = stream("-k", secret_file("file", b" \n\r\n"), status=2)
    assert (result.error, result.hint) == ("--key: file is empty", FILE_HINT)


@pytest.mark.parametrize("name, status, error, hint", [
    ("empty", 2, "empty is empty", FILE_HINT),
    ("no-such-file", 1, "cannot open no-such-file: No such file or directory", ""),
    ("directory", 1, "cannot read directory: Is a directory", ""),
    ("/proc/self/mem", 1, "cannot read /proc/self/mem at byte 0: Input/output error" if os.geteuid() == 0 else
     "cannot open /proc/self/mem: Permission denied", ""),
    ("/dev/zero", 2, "/dev/zero is longer than 1048576 bytes, which is too long for a file of keys or recipients", ""),
    ("huge", 2, "huge is longer than 1048576 bytes, which is too long for a file of keys or recipients", ""),
])  # fmt: skip
def test_what_is_not_a_key_file(name, status, error, hint):
    os.mkdir("directory")
    pathlib.Path("empty").touch()
    with larger_files(), open("huge", "wb") as file:
        file.truncate(1 << 40)
    result = stream("-f", "raw", "--iv", IV, "-k", name, status=status)
    assert (result.out, result.error, result.hint) == (b"", f"--key: {error}", hint)
