"""Command lines of gpuaes-parts that are refused."""

import os
import pathlib

import pytest

from parts_steps import plan, seal, write_input
from programs import parts

LIST = "gpuaes-parts -h lists the commands"
OPTIONS = "run with --help for a list of options"
PART_HINT = "use the number of a part, from 0 to 1048575"
COUNT_HINT = "use a number from 1 to 1048576"
NO_STREAM = "plan cannot use standard input, because each seal opens the input by its name"
UNPLANNED = "omit the input; each seal then reads its own"
RECEIPTS = "receipts follow the directory and --receipts"


@pytest.mark.parametrize("arguments, error, hint", [
    ([], "no command was given", LIST),
    (["unseal"], "unknown command 'unseal'", LIST),
    (["list"], "unknown command 'list'", LIST),
    (["--label", "x"], "unknown option '--label'", OPTIONS),
    (["plan", "-k", "key"], "plan requires --output", ""),
    (["plan", "-k", "key", "-o", "-"], "plan makes a directory, and cannot write to standard output", ""),
    (["plan", "-k", "key", "-o", "new", "plain", "other"], "too many arguments", OPTIONS),
    (["plan", "-k", "key", "-o", "new", "-i", "plain", "other"], "--input cannot be used together with another input file",
     "name the input only once, and a key or identity file with -k"),
    (["plan", "-k", "key", "-o", "new", "-"], NO_STREAM, UNPLANNED),
    (["plan", "-k", "key", "-o", "new", "-i", "-"], NO_STREAM, UNPLANNED),
    (["seal", "dir"], "seal requires --part", ""),
    (["seal", "--part", "0"], "seal requires a directory", "gpuaes-parts seal -h describes its arguments"),
    (["seal", "dir", "plain", "--part", "0"], "too many arguments", OPTIONS),
    (["seal", "dir", "--part", "0/2"], "invalid part '0/2'", "use the number of a part, from 0 to 1048575"),
    (["seal", "dir", "--part", "0", "-o", "part"], "--output and --receipt require each other",
     "without them, the part is written to the directory"),
    (["seal", "dir", "--part", "0", "--receipt", "r"], "--output and --receipt require each other",
     "without them, the part is written to the directory"),
    (["seal", "dir", "--part", "0", "--receipt", "r", "-o", "part", "--verify"],
     "--receipt and --verify cannot be used together", ""),
    (["seal", "dir", "--part", "0", "-l", "cpu", "-T", "2"], "--lanes and --threads cannot be used together", ""),
    (["seal", "dir", "--job", "x", "--part", "0"], "unknown option '--job'", OPTIONS),
    (["status"], "status requires a directory", "gpuaes-parts status -h describes its arguments"),
    (["status", "dir", "--json", "--missing"], "--json and --missing cannot be used together", ""),
    (["join"], "join requires a directory", "gpuaes-parts join -h describes its arguments"),
    (["join", "dir", "other"], "join accepts only one directory", RECEIPTS),
    (["join", "dir", "--receipts"], "--receipts requires a receipt", RECEIPTS),
    (["join", "dir", "--receipts", "r", "-o", "out"], "--receipts and --output cannot be used together", ""),
])
def test_usage_errors(arguments, error, hint):
    found = parts(*arguments, status=2)
    assert (found.error, found.hint) == (error, hint)
    assert os.listdir() == []


@pytest.mark.parametrize("text", ["x", "1/1", "2/1", "0/0", "0/1048577", "1048576", "-1", "1/", "/1", "1/2/3", "0x1",
                                  "1 "])
def test_numbers_of_parts_that_are_out_of_range(text):
    found = parts("seal", "dir", f"--part={text}", status=2)
    assert (found.error, found.hint) == (f"invalid part '{text}'", PART_HINT)


@pytest.mark.parametrize("text", ["x", "0", "1048577", "-1", "1/2"])
@pytest.mark.parametrize("arguments", [["join", "dir", "--count"], ["plan", "-k", "key", "-o", "new", "--parts"]])
def test_counts_that_are_out_of_range(arguments, text):
    found = parts(*arguments[:-1], f"{arguments[-1]}={text}", status=2)
    assert (found.error, found.hint) == (f"invalid number of parts '{text}'", COUNT_HINT)


def test_planned_input_is_never_cut_from_standard_input(key):
    """Several processes may share the offset of standard input."""
    write_input("plain", b"text")
    plan(key, "dir", input="plain", count=2)
    with open("plain", "rb") as file:
        found = seal("dir", 0, "-i", "-", stdin=file, status=2)
    assert (found.error, found.hint) == ("part 0: standard input cannot be cut into parts", "name the file with -i")
    assert sorted(os.listdir("dir")) == ["head", "job"]


@pytest.mark.parametrize("name", ["missing", "plain"])
@pytest.mark.parametrize("command", [["seal", "--part", "0"], ["status"], ["join"]])
def test_what_is_not_a_directory(command, name):
    pathlib.Path("plain").touch()
    why = {"missing": "No such file or directory", "plain": "Not a directory"}[name]
    found = parts(command[0], name, *command[1:], status=1)
    assert found.error.removeprefix("part 0: ") == f"cannot open {name}: {why}"
