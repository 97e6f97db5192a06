"""--files-from reads names as they are needed: one that cannot be used is an error of that file. --skip-existing continues
after an interruption."""

import json
import os
import pathlib
import signal
import subprocess

import pytest

from processes import expect_death_by, expect_exit, wait_for
from programs import FOLDER, KEY, secret_file, start, stream
from test_output_dir import many
from test_side_by_side import expect_whole, make_small

ODD_NAMES = ["plain", " two words ", "-", "-d", "#comment", "\udcff", "in/folder", "tab\t"]


def make(*names):
    for name in names:
        pathlib.Path(name).parent.mkdir(exist_ok=True)
        pathlib.Path(name).write_bytes(os.fsencode(name))


def write_list(*names, end="\n", last="\n"):
    pathlib.Path("list").write_bytes(os.fsencode(end.join(names) + last))


def outputs():
    return sorted(str(path.relative_to("out")) for path in pathlib.Path("out").rglob("*") if path.is_file())


@pytest.mark.parametrize("options, names, end, last", [
    ([], ODD_NAMES, "\n", "\n"),
    ([], ODD_NAMES, "\n", ""),
    ([], ["", *ODD_NAMES, ""], "\n\n", "\n\n"),
    (["--null"], [*ODD_NAMES, "new\nline", "\n"], "\0", "\0"),
    (["--null"], [*ODD_NAMES, "new\nline", "\n"], "\0", ""),
])  # fmt: skip
def test_each_name_is_taken_literally(key, options, names, end, last):
    names = [name for name in names if name]
    make(*names)
    write_list(*names, end=end, last=last)
    many("-k", key, "--output-dir", "out", "--files-from", "list", *options)
    assert outputs() == sorted(f"{name}.sealed" for name in names)
    for name in names:
        assert stream("-dk", key, f"./out/{name}.sealed").out == os.fsencode(name)


@pytest.mark.parametrize("data", [b"", b"\n\n\n"])
def test_an_empty_list(key, data):
    pathlib.Path("list").write_bytes(data)
    assert many("-k", key, "--output-dir", "out", "--files-from", "list") == ([], ["0 files encrypted"])
    assert stream("-tk", key, "--files-from", "list").out == b""


def test_names_that_cannot_be_used(key):
    """Each is an error for that name only, even where it would be a usage error on the command line."""
    make("a", "b", "c.sealed")
    os.mkfifo("fifo")
    secret = secret_file("secret", KEY)
    write_list("a", "../a", "/", "fifo", "./a", "missing", "secret", KEY.hex(), "x" * 256, "b", "out/b.sealed")
    errors, notes = many("-k", secret, "--output-dir", "out", "--files-from", "list", status=1)
    assert sorted(errors) == sorted([
        "the name ../a contains .., so its output could be outside the directory", "'/' is not the name of a file",
        "fifo is not a regular file", "./a and another input have the same output, a.sealed",
        "cannot open missing: No such file or directory", "--key and the input are both read from secret",
        "a key was given instead of a file name", f"cannot open {'x' * 256}: File name too long",
        "out/b.sealed is also the output of another input"])
    assert notes == ["2 of 11 files encrypted, 9 failed"] and outputs() == ["a.sealed", "b.sealed"]


@pytest.mark.parametrize("options, data, error", [
    ([], b"a\na\0b\nb\n", "line 2 of list contains a null byte"),
    ([], b"a\n" + b"x" * 4096 + b"\nb", "name 2 in list is longer than 4095 bytes"),
    ([], b"a\n" + b"x" * 200_000 + b"\nb\n", "name 2 in list is longer than 4095 bytes"),
    (["--null"], b"a\0" + b"a\n" * 100_000 + b"\0b", "name 2 in list is longer than 4095 bytes"),
    ([], b"a\nb\n" + b"x" * 200_000, "name 3 in list is longer than 4095 bytes"),
], ids=["null byte", "long by a byte", "long", "long with newlines", "long at the end"])  # fmt: skip
def test_what_is_no_name(key, options, data, error):
    """The rest of the list is done."""
    make("a", "b")
    pathlib.Path("list").write_bytes(data)
    found = stream("-k", key, "--output-dir", "out", "--files-from", "list", *options, status=1)
    assert found.error == error and "--null" in found.hint
    assert found.notes == ["2 of 3 files encrypted, 1 failed"]
    assert outputs() == ["a.sealed", "b.sealed"]


@pytest.mark.parametrize("options", [["-dk"], ["-k"]])
def test_a_secret_in_a_list_is_not_shown(key, options):
    write_list(KEY.hex(), f"../{KEY.hex()}")
    errors, _ = many(*options, key, "--output-dir", "out", "--files-from", "list", status=1)
    assert errors == ["a key was given instead of a file name"] * 2


def test_a_list_that_cannot_be_opened(key):
    found = stream("-k", key, "--output-dir", "out", "--files-from", "missing", status=1)
    assert found.error == "--files-from: cannot open missing: No such file or directory"


def test_names_are_processed_as_they_arrive(key):
    make("a", "b")
    child = start("gpuaes-stream", "-k", key, "--output-dir", "out", "--files-from", "-", stdin=subprocess.PIPE)
    for name in "ab":
        child.stdin.write(f"{name}\n".encode())
        child.stdin.flush()
        wait_for(lambda name=name: os.path.exists(f"out/{name}.sealed"), f"the output for {name}")
    child.stdin.close()
    expect_exit(child, 0)


def test_verify_and_describe(key):
    make("a", "b", "c")
    many("-k", key, "--output-dir", "out", "a", "b", "c")
    os.truncate("out/b.sealed", 190)
    write_list("out/a.sealed", "out/b.sealed", "missing", "a", "out/c.sealed")
    found = lines_of("-tk", key, "--files-from", "list", status=4)
    assert found == ["out/a.sealed: ok", "out/c.sealed: ok"]
    lines = lines_of("--info", "--json", "--files-from", "list", status=4)
    objects = [json.loads(line) for line in lines]
    assert [each["file"] for each in objects] == ["out/a.sealed", "out/b.sealed", "missing", "a", "out/c.sealed"]
    assert ["error" in each for each in objects] == [False, False, True, True, False]
    write_list("out/a.sealed")
    assert lines_of("-tk", key, "--files-from", "list") == ["out/a.sealed: ok"]
    assert json.loads(lines_of("--info", "--json", "--files-from", "list")[0])["file"] == "out/a.sealed"


def lines_of(*options, status=0):
    done = subprocess.run([FOLDER / "gpuaes-stream", *options], capture_output=True, stdin=subprocess.DEVNULL)
    assert done.returncode == status, done.stderr
    return done.stdout.decode().splitlines()


# --- --skip-existing -------------------------------------------------------------------------------------------------


def test_only_what_is_missing_or_older_is_done(key):
    make("a", "b", "c", "d")
    many("-k", key, "--output-dir", "out", "a", "b", "c")
    before = {name: os.stat(f"out/{name}.sealed").st_ino for name in "abc"}
    newer = os.stat("out/b.sealed").st_mtime_ns + 1
    os.utime("b", ns=(newer, newer))
    same = os.stat("out/c.sealed").st_mtime_ns
    os.utime("c", ns=(same, same))
    options = "-k", key, "--output-dir", "out", "--skip-existing"
    assert many(*options, "a", "b", "c", "d") == ([], ["2 of 4 files encrypted, 2 skipped"])
    assert [os.stat(f"out/{name}.sealed").st_ino == before[name] for name in "abc"] == [True, False, True]
    assert many(*options, "a", "missing", status=1) == (
        ["cannot open missing: No such file or directory"], ["0 of 2 files encrypted, 1 skipped, 1 failed"])
    os.chdir("out")
    for skipped in 0, 1:
        many("-d", "-k", key, "--output-dir", "../back", "--skip-existing", "a.sealed")
        assert pathlib.Path("../back/a").read_bytes() == b"a", skipped


def test_a_link_is_not_skipped(key):
    make("a", "out/x")
    os.symlink("x", "out/a.sealed")
    errors, _ = many("-k", key, "--output-dir", "out", "--skip-existing", "a", status=1)
    assert errors == ["out/a.sealed is a symbolic link and is not replaced"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_continue_after_a_signal(key, number):
    """The run is in the middle: its list has not ended."""
    names = make_small()
    options = "-k", key, "--output-dir", "out", "--files-from", "-"
    child = start("gpuaes-stream", *options, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdin.write("\n".join(names[: len(names) // 2] + [""]).encode())
    child.stdin.flush()
    wait_for(lambda: os.path.isdir("out/in") and len(os.listdir("out/in")) > len(names) // 20, "some outputs")
    expect_death_by(child, number)
    done = expect_whole(key)
    assert 0 < done <= len(names) // 2
    summary = f"gpuaes-stream: interrupted; {done} files encrypted\n" if number == signal.SIGTERM else ""
    assert child.stderr.read().decode() == summary
    found = stream(*options, "--skip-existing", input="\n".join(names).encode())
    assert found.notes == [f"{len(names) - done:,} of {len(names):,} files encrypted, {done} skipped"]
    assert expect_whole(key) == len(names)
