"""--rekey replaces the keys of many files, each as a single one. What it says about them is summed."""

import os
import pathlib
import signal
import subprocess

import pytest

from processes import expect_death_by, start, wait_for
from programs import FOLDER, KEY, files_here, keygen, secret_file, some_bytes, stream
from test_output_dir import many

NAMES = [f"file-{number}" for number in range(30)]


@pytest.fixture
def files(key):
    """The names of files of two formats, one of them large, and the options that rekey them."""
    keygen("--x25519", "-o", "../identity")
    secret_file("../new", KEY[::-1])
    for number, name in enumerate(NAMES):
        pathlib.Path(name).write_bytes(some_bytes(number * 1000))
    pathlib.Path("large").write_bytes(some_bytes(65 << 20))
    sealed = [f"{name}.sealed" for name in (*NAMES, "large")]
    many("-k", key, "--output-dir", ".", *NAMES, "large")
    return sealed, ["--rekey", "-k", key, "--new-key", "../new"]


def test_all_files_have_the_new_key(key, files):
    names, options = files
    os.chmod(names[3], 0o640)
    os.symlink(names[4], "link.sealed")
    errors, notes = many(*options, *names[:4], "link.sealed", *names[5:])
    assert errors == [] and notes == ["31 files: 31 slots before, 31 now", "31 files rekeyed"]
    assert os.stat(names[3]).st_mode == 0o100640 and os.path.islink("link.sealed")
    for name in names:
        assert stream("-dk", "../new", name).out == pathlib.Path(name.removesuffix(".sealed")).read_bytes()
        stream("-tk", key, name, status=3)


def test_one_that_fails_does_not_stop_the_others(key, files):
    names, options = files
    os.truncate(names[2], 60)
    stream("-k", "../new", "-o", names[3], input=b"other", status=0)
    before = [pathlib.Path(name).read_bytes() for name in (names[2], names[3])]
    errors, notes = many(*options, "missing", *names, status=4)
    assert sorted(error.split(":")[0] for error in errors) == ["cannot open missing", names[2], names[3]]
    assert notes[-1] == "29 of 32 files rekeyed, 3 failed"
    assert [pathlib.Path(name).read_bytes() for name in (names[2], names[3])] == before
    assert stream("-tk", "../new", *(name for name in names if name != names[2])).out.count(b": ok\n") == 30


def test_a_list(key, files):
    names, options = files
    os.mkfifo("fifo")
    pathlib.Path("list").write_text("\n".join(["fifo", *names]))
    errors, notes = many(*options, "--files-from", "list", status=1)
    assert errors == ["fifo is not a regular file and cannot be replaced"] and notes[-1] == "31 of 32 files rekeyed, 1 failed"
    assert stream("-tk", "../new", "--files-from", "list", status=1).out.count(b": ok\n") == 31


def test_formats_are_counted_together_and_warnings_name_their_file(key, files):
    names, _ = files
    many("-k", key, "-R", "../identity.pub", "-q", "--output-dir", "both", *NAMES)
    many("-R", "../identity.pub", "--output-dir", "age", *NAMES)
    sealed, age = ([f"{folder}/{name}.{ending}" for name in NAMES] for folder, ending in
                   (("both", "sealed"), ("age", "age")))
    keygen("--x25519", "-o", "../second")
    errors, notes = many("--rekey", "-k", "../identity", "-R", "../second.pub", *sealed, *age)
    assert errors == [] and notes[-2] == "60 files: 90 slots before, 60 now"
    assert stream("-tk", "../second", *sealed, *age).out.count(b": ok\n") == 60
    _, notes = many("--rekey", "-k", "../second", "--new-key", "../new", *sealed)
    assert sorted(note.split(": the input was sealed for a recipient, ")[0] for note in notes[:30]) == sorted(
        f"warning: {name}" for name in sealed)
    _, notes = many("--rekey", "-k", "../new", "--new-key", key, "-R", "../second.pub", *sealed)
    assert [note[:31] for note in notes if "warning" in note] == ["warning: encrypting for both a "]


@pytest.mark.parametrize("options, error", [
    ("file-1.sealed -", "--rekey cannot replace standard input"),
    ("-o - file-1.sealed file-2.sealed", "--rekey of several files cannot be used with --output"),
    ("file-1.sealed fifo", "fifo is not a regular file and cannot be replaced"),
    ("file-1.sealed ../key", "--key and another input are both read from KEY"),
])  # fmt: skip
def test_what_is_refused_before_anything_is_done(files, options, error):
    os.mkfifo("fifo")
    before = files_here()
    done = subprocess.run([FOLDER / "gpuaes-stream", *files[1], *options.split()], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.split("\n")[0] == f"gpuaes-stream: error: {error.replace('KEY', files[1][2])}"
    assert files_here() == before
    assert stream("-tk", files[1][2], *files[0]).status == 0


def test_a_signal_does_not_hide_what_was_done(key, files):
    """The run is in the middle: its list has not ended."""
    names, options = files
    before = os.stat(names[9]).st_ino
    child = start("gpuaes-stream", *options, "--files-from", "-", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdin.write("\n".join(names[:10] + [""]).encode())
    child.stdin.flush()
    wait_for(lambda: os.stat(names[9]).st_ino != before, "some files replaced")
    expect_death_by(child, signal.SIGTERM)
    lines = child.stderr.read().decode().splitlines()
    assert any(" slots before, " in line for line in lines) and lines[0].startswith(
        "gpuaes-stream: interrupted; ")


def test_the_old_key_of_a_file_with_new_ones_is_explained(key, files):
    names, options = files
    many(*options, names[0])
    found = stream(*options, names[0], status=3)
    assert found.error == f"{names[0]}: none of the given keys opens the input"
    keygen("-o", "another")
    assert stream(*options, "-k", "another", names[0], status=3).hint == found.hint
    assert found.hint == "if it has been rekeyed before, it may have the new keys already; --test shows whether it does"
