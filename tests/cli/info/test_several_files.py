"""--info describes several files in one line each, or with --json in one object each, and continues after an error."""

import fcntl
import json
import os
import pathlib
import subprocess

import pytest

from programs import FOLDER, NOT_ENCRYPTED, PATIENCE, some_bytes, stream

PLAIN = some_bytes(60000)
ONE = "one: sealed, version 1, aes-256, 1 slot, 60000 bytes of plaintext"
TWO = "two: sealed, version 1, kuznyechik, 2 slots, 60000 bytes of plaintext"
MISSING = "cannot open missing: No such file or directory"
CUT_HEAD = "cut-head: the input is truncated after byte 100, in its header; nothing was written"


def info(*options):
    """The exit status, standard output, and all messages."""
    done = subprocess.run([FOLDER / "gpuaes-stream", "--info", *options], capture_output=True,
                          input=pathlib.Path("one").read_bytes(), timeout=PATIENCE)
    return done.returncode, done.stdout.decode(), done.stderr.decode().splitlines()


@pytest.fixture
def one(key):
    """The content of the file `one`."""
    one = stream("-q", "-k", key, input=PLAIN).out
    two = stream("-q", "-c", "kuznyechik", "-k", key, "-k", key, input=PLAIN).out
    for name, data in {"one": one, "two": two, "short": one[:16575], "cut-head": one[:100], "plain": PLAIN,
                       'a "raw" file': PLAIN, "openssl": b"Salted__12345678"}.items():
        pathlib.Path(name).write_bytes(data)
    return one


@pytest.mark.parametrize("options, lines, errors, status", [
    (["one", "two", "short", "openssl"],
     [ONE, TWO, "short: sealed, version 1, aes-256, 1 slot, truncated", "openssl: openssl, 0 bytes of plaintext"],
     [], 0),
    (["-", "one"], ["standard input: sealed, version 1, aes-256, 1 slot, size unknown", ONE], [], 0),
    (["one", "missing", "cut-head", "two"], [ONE, TWO], [MISSING, CUT_HEAD], 4),
    (["one", "missing"], [ONE], [MISSING], 1),
    (["-f", "raw", "plain", 'a "raw" file'],
     ["plain: raw, 60000 bytes of plaintext", 'a "raw" file: raw, 60000 bytes of plaintext'], [], 0),
])
def test_each_file_has_a_line(one, options, lines, errors, status):
    text = "".join(f"{line}\n" for line in lines)
    found, out, messages = info(*options)
    assert (found, out) == (status, text)
    assert [line for line in messages if "hint: " not in line] == [f"gpuaes-stream: error: {error}" for error in errors]


def test_json(one):
    """The report of each file is that of the file alone, and its name."""
    odd = b"\xff\n\\"
    with open(odd, "wb") as file:
        file.write(one)
    status, out, errors = info("--json", "one", "missing", "cut-head", 'a "raw" file', odd, "short")
    assert (status, errors) == (4, [
        f"gpuaes-stream: error: {MISSING}", f"gpuaes-stream: error: {CUT_HEAD}",
        "gpuaes-stream: hint: copy or download it again",
        'gpuaes-stream: error: a "raw" file: the input is not in a known format',
        f"gpuaes-stream: hint: {NOT_ENCRYPTED}"])
    found = [json.loads(line) for line in out.splitlines()]
    assert [(each["file"], each["truncated"]) for each in found if "error" not in each] == [
        ("one", False), ("\ufffd\n\\", False), ("short", True)]
    assert found[1:4] == [
        {"file": "missing", "error": MISSING}, {"file": "cut-head", "error": CUT_HEAD},
        {"file": 'a "raw" file', "error": 'a "raw" file: the input is not in a known format'}]
    with open("one", "rb") as file:
        assert found[0] == {"file": "one", **json.loads(stream("--info", "--json", stdin=file).out)}


def test_a_file_that_fails_has_an_object_only_if_there_are_several(one):
    status, out, _ = info("--json", "missing", "cut-head")
    assert (status, [json.loads(line)["file"] for line in out.splitlines()]) == (4, ["missing", "cut-head"])
    assert info("--json", "missing")[:2] == (1, "")


def test_only_the_header_is_read(key):
    """The rest of a pipe is left to the next program, a file is positioned after the header, and a pipe that stays open
    does not delay the report. The header begins at the offset of standard input."""
    sealed = stream("-q", "-k", key, input=PLAIN).out
    for options, before, data, header in (
            ([], b"", sealed, 175), ([], b"", sealed[:175], 175), (["-f", "cobblestone"], b"", sealed, 56),
            ([], b"", b"Salted__12345678" + PLAIN, 16), (["-f", "raw"], b"", PLAIN, 0),
            (["--json"], b"x" * 1000, sealed, 175)):
        pathlib.Path("input").write_bytes(before + data)
        file = os.open("input", os.O_RDONLY)
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, len(before + data))
        os.write(writer, before + data)
        for fd, size in (reader, None), (file, len(data)):
            os.read(fd, len(before))
            out = stream("--info", *options, stdin=fd).out
            assert os.read(fd, len(data) - header) == data[header:]
            assert "--json" not in options or json.loads(out)["size"] == size
        for fd in reader, writer, file:
            os.close(fd)
