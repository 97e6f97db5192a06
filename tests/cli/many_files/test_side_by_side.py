"""Small files are done side by side and a large one on its own, and what happens to one does not affect the others: files
that fail, too few descriptors, a full disk, another run in the same directory."""

import os
import pathlib
import re
import resource
import shutil
import subprocess

import pytest

from processes import expect_exit
from programs import FOLDER, PATIENCE, SANITIZED, User, overwrite, some_bytes, start, stream
from special_files import mounted_by

COUNT = 100 if SANITIZED else 400
LARGE = 65 << 20


def make_small(count=COUNT):
    os.mkdir("in")
    names = [f"in/{number}" for number in range(count)]
    for number, name in enumerate(names):
        pathlib.Path(name).write_bytes(b"%d " % number * (number % 2000))
    return names


def run_many(*options, **popen):
    """Returns the exit status and the lines on standard error."""
    done = subprocess.run([FOLDER / "gpuaes-stream", *options], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          timeout=PATIENCE, **popen)
    return done.returncode, done.stderr.decode().replace("gpuaes-stream: ", "").splitlines()


def expect_whole(key, folder="out/in"):
    """Each file there opens, and has the content of its input. Returns their number."""
    sealed = sorted(os.listdir(folder))
    assert all(name.endswith(".sealed") for name in sealed), sealed
    if sealed:
        before = os.getcwd()
        os.chdir(folder)
        status, lines = run_many("-q", "-dk", key, "--output-dir", f"{before}/opened", *sealed)
        os.chdir(before)
        assert (status, lines) == (0, [])
    for name in sealed:
        name = name.removesuffix(".sealed")
        assert pathlib.Path("opened", name).read_bytes() == pathlib.Path("in", name).read_bytes(), name
    return len(sealed)


def test_large_files_between_small_ones(key):
    """A large one has all lanes, a small one has one. Damage to either is an error only of that file."""
    names = make_small()
    for name in "large", "damaged":
        pathlib.Path(f"in/{name}").write_bytes(some_bytes(LARGE))
    inputs = [*names[:300], "in/large", *names[300:], "in/damaged"]
    status, lines = run_many("-k", key, "-l", "cpu:3", "-v", "--output-dir", "out", *inputs)
    assert (status, lines[-1]) == (0, f"{COUNT + 2:,} files encrypted")
    assert {line for line in lines if re.search(": workers", line)} == {
        *(f"{name}: workers cpu:1" for name in names), *(f"in/{name}: workers cpu:3" for name in ("large", "damaged"))}
    for name in "out/in/damaged.sealed", "out/in/7.sealed":
        overwrite(name, -20, b"damage")
    outputs = [f"{name}.sealed" for name in inputs]
    outputs = [*outputs[:5], outputs[-1], *outputs[5:-1]]
    status, lines = run_many("-dk", key, "--output-dir", "../back", *outputs, cwd="out")
    assert (status, lines[-1]) == (4, f"{COUNT:,} of {COUNT + 2:,} files decrypted, 2 failed")
    assert sorted(line.split(": ")[1] for line in lines if line.startswith("error: ")) == [
        "in/7.sealed", "in/damaged.sealed"]
    for name in inputs:
        if name in ("in/7", "in/damaged"):
            assert not os.path.exists(f"back/{name}")
        else:
            assert pathlib.Path("back", name).read_bytes() == pathlib.Path(name).read_bytes()


@pytest.mark.skipif(SANITIZED, reason="sanitizers need descriptors, too")
@pytest.mark.parametrize("descriptors", [24, 40, 100])
def test_few_descriptors(key, descriptors):
    """There are fewer threads. A thread needs the most of them to replace an output."""
    names = make_small()
    set_limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))  # noqa: E731
    for _ in range(2):
        done = run_many("-k", key, "--output-dir", "out", *names, preexec_fn=set_limit)
        assert done == (0, [f"{COUNT} files encrypted"])
    assert expect_whole(key) == COUNT


@pytest.mark.skipif(SANITIZED, reason="sanitizers need descriptors, too")
def test_too_few_descriptors_for_a_file(key):
    """Each file has the error, until there are enough for one."""
    names = make_small(3)
    tried = []
    for descriptors in range(9, 30):
        set_limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))  # noqa: B023, E731
        status, lines = run_many("-k", key, "--output-dir", "out", *names, preexec_fn=set_limit)
        if status == 0:
            break
        errors = [line for line in lines if line.startswith("error: ")]
        assert all(line.endswith(": Too many open files") for line in errors), errors
        tried.append(len(errors))
    assert status == 0 and tried[-1] == len(names)


@pytest.mark.root
def test_no_thread_can_be_created(key, users):
    """Except the one that handles signals."""
    if SANITIZED or not shutil.which("prlimit"):
        pytest.skip("needs prlimit, and no sanitizer, which would need threads of its own")
    names = make_small(20)
    alone = User(65530, 65530, users[0].folder)  # has no other processes
    for name in (".", key):
        os.chown(name, alone.uid, alone.uid)
    found = stream("-k", key, "--output-dir", "out", *names, user=alone, wrap=["prlimit", "--nproc=2"])
    assert found.notes == ["20 files encrypted"]
    assert expect_whole(key) == 20


@pytest.mark.root
def test_a_full_disk(key):
    names = make_small()
    with mounted_by("mount -t tmpfs -o size=256k none", "full"):
        status, lines = run_many("-k", key, "--output-dir", "full", *names)
        errors = [line for line in lines if line.startswith("error: ")]
        assert status == 1 and errors and all("No space left on device" in line for line in errors)
        assert expect_whole(key, "full/in") == COUNT - len(errors) > 0


def test_two_runs_into_one_directory(key):
    names = make_small()
    children = [start("gpuaes-stream", "-q", "-k", key, "--output-dir", "out", *names) for _ in range(2)]
    for child in children:
        expect_exit(child, 0)
    assert expect_whole(key) == COUNT


@pytest.mark.parametrize("files", ["200 files", "1 file"])
def test_progress_counts_files_and_bytes(key, files):
    names = make_small(200)[-int(files.split()[0]) :]
    size = sum(map(os.path.getsize, names))
    shown = f"{size / 1024:.1f}KiB" if size > 1024 else f"{size} B"
    found = stream("-P", "-k", key, "--output-dir", "out", *names).notes
    assert re.match(rf"{files}: *{shown} 0:00:0\d \[", found[0]), found
    assert found[1:] == [f"{files} encrypted"]
    lines = run_many("-P", "-k", key, "--output-dir", "out", *names, "missing")[1]
    assert lines[-2].startswith(f"{files}: ") and lines[-1].endswith(" 1 failed")
