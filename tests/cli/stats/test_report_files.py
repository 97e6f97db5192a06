"""--stats and --trace write wherever -o can, but never over the input, the output or each other. If their file cannot
be opened, the program fails before it writes anything; if writing fails later, the output is complete."""

import contextlib
import os
import pathlib
import re
import subprocess

import pytest

from programs import expect_same, files_here, openssl_ctr, raw, some_bytes, stream

PLAIN = some_bytes(1000000)
BOTH = pytest.mark.parametrize("option", ["--stats", "--trace"])


@pytest.fixture(autouse=True)
def files():
    pathlib.Path("plain").write_bytes(PLAIN)
    pathlib.Path("old").write_text("old")


def expect_complete_output():
    expect_same(openssl_ctr(PLAIN), pathlib.Path("out").read_bytes())


def expect_stats(text):
    assert '"bytes_in": 1000000' in text


@BOTH
@pytest.mark.parametrize("name, error", [
    ("missing/file", "cannot create a temporary file next to missing/file: No such file or directory"),
    (".", "cannot open .: Is a directory")])
def test_a_file_that_cannot_be_opened(key, option, name, error):
    for output in [], ["-o", "out"]:
        result = raw(key, "-i", "plain", *output, option, name, status=1)
        assert (result.error, result.out) == (f"{option}: {error}", b"")
    assert files_here() == ["old", "plain"]


@BOTH
@pytest.mark.parametrize("options, error", [
    ("-o new OPTION ./new", "OPTION and --output are the same file"),
    ("OPTION plain", "plain and OPTION are the same file"),
    ("OPTION /dev/stdout", "OPTION and standard output are the same file"),
    ("-o /dev/null --stats new --trace ./new", "--trace and --stats are the same file"),
])
def test_other_files_are_not_overwritten(key, option, options, error):
    result = raw(key, "-i", "plain", *options.replace("OPTION", option).split(), status=2)
    assert result.error == error.replace("OPTION", option)
    assert result.hint == ("write to another file" if error.startswith("plain") else "")
    assert pathlib.Path("old").read_text() == "old" and files_here() == ["old", "plain"]
    expect_same(PLAIN, pathlib.Path("plain").read_bytes())


def test_standard_output_if_the_output_is_a_file(key):
    expect_stats(raw(key, "-i", "plain", "-o", "out", "--stats", "/dev/stdout").out.decode())
    expect_complete_output()
    assert b"traceEvents" in raw(key, "-i", "plain", "-o", "out", "--trace", "/dev/stdout", "--stats", "stats").out
    stream("-k", key, "plain", "-o", "sealed")
    assert b'"bytes_out": 1000000' in stream("--test", "-k", key, "sealed", "--stats", "/dev/stdout").out
    expect_complete_output()
    expect_stats(pathlib.Path("stats").read_text())


def test_a_trace_that_cannot_be_written(key):
    """It causes no SIGPIPE if it is a pipe without a reader. With small chunks, it is written during the run."""
    os.mkfifo("fifo")
    for name, size, error in (("/dev/full", "16", "--trace: cannot write /dev/full after byte 0: No space left on device"),
                              ("/dev/full", "1M", "--trace: cannot write /dev/full after byte 0: No space left on device"),
                              ("fifo", "16", "--trace: cannot write fifo after byte 0: Broken pipe")):
        with subprocess.Popen(["sh", "-c", "exec 3<fifo"]) if name == "fifo" else contextlib.nullcontext():
            result = raw(key, "-i", "plain", "-b", size, "-o", "out", "--trace", name, "--stats", "stats", status=1)
        # The reader may take some bytes before it goes away.
        found = re.sub("byte [0-9]+: Broken", "byte 0: Broken", result.error)
        assert (found, result.hint) == (error, "the complete output is in .out.gpuaes-kept")
        os.rename(".out.gpuaes-kept", "out")
        expect_complete_output()
        expect_stats(pathlib.Path("stats").read_text())
        os.unlink("out")
        os.unlink("stats")
    assert files_here() == ["fifo", "old", "plain"]
