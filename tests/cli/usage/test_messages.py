"""Messages begin with the program's name and never show the key. -v reports how a run goes. If messages cannot be
written, neither the output nor the exit status changes."""

import os
import pathlib
import re

import pytest

from processes import expect_exit
from programs import FOLDER, IV, KEY, expect_same, openssl_ctr, raw, run, some_bytes, start, stream

RAW_WARNING = "the raw format is not authenticated; modifications will go undetected"
RING = r"ring of \d+ chunks of 64 KiB, \d+ KiB in total"
LANE = r"cpu: \d+ chunks?, \d+ bytes; busy S, reading S, writing S, waiting S".replace("S", r"\d+\.\d{3} s")
SUMMARY = (r"1000000 bytes in, 1000000 bytes out, \d+\.\d{3} s, [\d.]+[KMG]iB/s; "
           r"cpu:2 did 16 chunks, 1000000 bytes")


def test_messages_begin_with_the_name_of_the_program(key):
    """Even if it is called by another name."""
    os.symlink(FOLDER / "gpuaes-stream", "other-name")
    for command in FOLDER / "gpuaes-stream", pathlib.Path("other-name").absolute():
        result = run(command, "-f", "raw", "-k", key, status=2)
        assert result.err == (
            "gpuaes-stream: error: the raw format requires an IV\n"
            "gpuaes-stream: hint: give a new IV in hexadecimal; never use an IV twice with the same key\n")
        result = run(command, "-f", "raw", "-k", "missing", "--iv", IV, status=1)
        assert result.err == "gpuaes-stream: error: --key: cannot open missing: No such file or directory\n"


@pytest.mark.parametrize("options, error", [
    (["-i", "two\nlines"], "--input: cannot open two?lines: No such file or directory"),
    (["stray\nargument"], "cannot open stray?argument: No such file or directory"),
    (["-i", "escape \033[31m"], "--input: cannot open escape ?[31m: No such file or directory"),
])
def test_special_characters_in_names_are_replaced(key, options, error):
    assert raw(key, *options, status=1).err == f"gpuaes-stream: error: {error}\n"


def test_the_key_is_not_shown(work):
    pathlib.Path("hex").write_text(KEY.hex() + "\n")
    pathlib.Path("plain").write_bytes(some_bytes(100000))
    result = stream("-v", "-f", "raw", "--iv", IV, "-k", "hex", "-i", "plain", "-o", "out", "--stats", "stats")
    assert result.warnings == ["hex is readable by other users; run chmod 600 hex", RAW_WARNING]
    for text in result.err, pathlib.Path("stats").read_text():
        assert not re.search(f"{KEY.hex()[:12]}|{KEY.hex()[40:52]}", text, re.I)


@pytest.mark.parametrize("options, notes", [
    ("-v", [RING, "lanes cpu:2", SUMMARY]),
    ("-vv", [RING, r"OpenSSL \d.*", "lanes cpu:2", LANE, LANE, SUMMARY]),
    ("-v -v", [RING, r"OpenSSL \d.*", "lanes cpu:2", LANE, LANE, SUMMARY]),
    ("-vvv", [RING, r"OpenSSL \d.*", "lanes cpu:2", LANE, LANE, SUMMARY]),
])
def test_verbose_messages(key, options, notes):
    """-v reports the ring and the lanes, -vv also the version of libcrypto and the work of each lane."""
    plain = some_bytes(1_000_000)
    result = stream(*options.split(), "-f", "raw", "--iv", IV, "-k", key, "-l", "cpu:2", "-b", "64K",
                    input=plain, via="file")
    expect_same(openssl_ctr(plain), result.out)
    assert all(line.startswith("gpuaes-stream: ") for line in result.err.splitlines())
    assert result.warnings == [RAW_WARNING]
    assert re.fullmatch("\n".join(notes), "\n".join(result.notes))


def test_a_file_that_is_too_small_to_divide(key):
    """It is not said to be something else."""
    pathlib.Path("small").write_bytes(some_bytes(1000))
    result = stream("-v", "-f", "raw", "--iv", IV, "-k", key, "-i", "small", "-o", "out")
    assert re.search(r"^lanes .* \(auto: (lanes take turns reading the input[;,] |there is no CUDA device\)$)",
                     "\n".join(result.notes), re.M)


@pytest.mark.parametrize("options, status", [
    ("-f raw -v -i plain -o out", 0),
    ("-f raw -i missing", 1),
    ("-f nonsense", 2),
    ("-f raw --no-such-option", 2),
])
def test_messages_that_cannot_be_written(key, options, status):
    pathlib.Path("plain").write_bytes(some_bytes(100000))
    reader, broken = os.pipe()
    os.close(reader)
    for error in broken, os.open("/dev/full", os.O_WRONLY):
        child = start("gpuaes-stream", *options.split(), "--iv", IV, "-k", key, stderr=error)
        os.close(error)
        expect_exit(child, status)
        if status == 0:
            expect_same(openssl_ctr(some_bytes(100000)), pathlib.Path("out").read_bytes())
            os.unlink("out")
