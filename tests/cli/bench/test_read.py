"""gpuaes-bench read reads a file from its offset to its end with any number of threads."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from programs import SANITIZED, run, some_bytes

SIZE = 3_000_001


@pytest.fixture
def plain():
    pathlib.Path("plain").write_bytes(some_bytes(SIZE))
    with open("plain", "rb") as file:
        yield file


def expect_read(words, size, file):
    columns, row, *more = run("gpuaes-bench", "read", "--csv", *words, stdin=file).out.decode().splitlines()
    assert columns == "threads,call_bytes,bytes,seconds,gb_per_s" and not more
    assert re.fullmatch(rf"{words[0]},\d+,{size},[\d.e-]+,[\d.e+]+", row)


@pytest.mark.parametrize("words", ["1 1M", "2 64K", "7 4095", "16 1G"])
def test_read_reads_the_whole_file(plain, words):
    expect_read(words.split(), SIZE, plain)


def test_read_begins_at_the_offset(plain):
    os.lseek(plain.fileno(), 1_000_001, os.SEEK_SET)
    expect_read(["2", "64K"], 2_000_000, plain)


@pytest.mark.skipif(SANITIZED, reason="LeakSanitizer does not work under strace")
def test_read_reads_each_range_once(plain):
    strace = ["strace", "-ff", "-e", "trace=pread64", "-o", "trace"]
    if not shutil.which("strace") or subprocess.run([*strace, "true"], stderr=subprocess.PIPE).returncode != 0:
        pytest.skip("strace is not installed, or cannot trace a program here")
    run("gpuaes-bench", "read", "3", "100000", stdin=plain, wrap=strace)
    calls = "".join(path.read_text() for path in pathlib.Path().glob("trace.*"))
    ranges = re.findall(r"^pread64\(\d+, .*, (\d+)\) += (100000|1)$", calls, re.M)
    want = [(i * 100_000, 100_000 if i < 30 else 1) for i in range(31)]
    assert sorted((int(offset), int(size)) for offset, size in ranges) == want
