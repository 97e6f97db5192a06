"""-V and -h print to standard output and need no other option. Help is as wide as the terminal, up to 100 columns, and
has the same text at every width; COLUMNS takes precedence."""

import os
import re
import subprocess

import pytest

from processes import expect_exit, open_terminal, read_terminal
from programs import run, start, stream


def test_version():
    result = stream("-V")
    version, cpu, libcrypto, cuda = result.out.decode().splitlines()
    assert re.fullmatch(r"gpuaes-stream [0-9]+\.[0-9]+\.[0-9]+( \([0-9a-f]{7,}(-dirty)?\))?", version)
    assert cpu in ("CPU architecture x86_64", "CPU architecture aarch64")
    assert re.fullmatch(r"libcrypto 3\.[0-9]+\.[0-9]+", libcrypto)
    assert re.fullmatch(r"CUDA architectures [0-9]+( [0-9]+)*|built without CUDA", cuda)
    assert result.err == ""


def test_help():
    result = stream("-h")
    text = result.out.decode()
    assert re.search("The exit status is 0 .* 1 .* 2 .* 3 .*\\sand 4 ", text, re.S) and "SSH private key" in text
    assert result.err == ""


@pytest.mark.parametrize("option", ["-V", "-h", "--list-lanes"])
def test_output_that_cannot_be_written_is_an_error(option):
    with open("/dev/full", "wb") as full:
        result = stream(option, status=1, stdout=full)
    assert result.error == "cannot write standard output after byte 0: No space left on device"
    assert result.hint == "free some space, or write to another file system"
    result = stream(option, status=1, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.close(1))
    assert (result.error, result.hint) == ("cannot write standard output: Bad file descriptor", "")


def shown(command, width):
    """The help on a terminal of that width."""
    master, slave = open_terminal(width)
    child = start(*command, "-h", stdout=slave)
    os.close(slave)
    text = read_terminal(master).decode().replace("\r\n", "\n")
    os.close(master)
    expect_exit(child, 0)
    return text


def widest(text):
    """The width of the lists, which are wrapped. Usage and examples are not, but have at most 80 columns."""
    lists = re.findall(r"^\w[\w ]*:\n(?:  .*\n|\n(?=\w[\w ]*:\n  ))+", text, re.M)
    return max(len(line) for part in lists if not part.startswith("Examples:") for line in part.splitlines())


@pytest.mark.parametrize("command", ["gpuaes-stream", "gpuaes-keygen", "gpuaes-parts", "gpuaes-parts plan", "gpuaes-bench"])
def test_the_width_of_help(monkeypatch, command):
    words, is_stream = command.split(), command == "gpuaes-stream"
    monkeypatch.setenv("COLUMNS", "")  # readline, which pytest loads, may have set it
    monkeypatch.delenv("COLUMNS")
    to_pipe = run(*words, "-h").out.decode()
    assert to_pipe.startswith(f"usage: {command} ") and max(map(len, to_pipe.splitlines())) <= 80
    cases = [(80, "to a pipe", to_pipe), (80, "on a terminal of unknown width", shown(words, 0))]
    for width in [60, 93, 100, 101, *([40] if is_stream else [])]:
        cases.append((min(width, 100), f"on a terminal of {width} columns", shown(words, width)))
    for columns, limit in ("64", 64), ("", 90), ("0", 90), ("64x", 90):
        monkeypatch.setenv("COLUMNS", columns)
        cases.append((limit, f"COLUMNS={columns}", shown(words, 90)))
    monkeypatch.setenv("COLUMNS", "64")
    cases.append((64, "COLUMNS=64 to a pipe", run(*words, "-h").out.decode()))
    for limit, what, text in cases:
        assert (limit - 3 if is_stream else 0) <= widest(text) <= limit, what
        assert text.split() == to_pipe.split(), what
