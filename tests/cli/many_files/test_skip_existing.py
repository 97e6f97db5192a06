"""--skip-existing skips an output only if it was made from this version of its input. So it continues after an
interruption, and finds what has changed."""

import contextlib
import os
import pathlib
import signal
import subprocess

import pytest

from file_systems import mounted, restricted
from processes import expect_death_by, wait_for
from programs import FOLDER, PATIENCE, append, content, keygen, overwrite, parts, start, stream
from special_files import mounted_by, shell
from test_output_dir import many
from test_side_by_side import expect_whole, make_small

SIZE = 100_000


@pytest.fixture
def backup(key):
    """Returns a function that encrypts the input, or files, and returns how many were encrypted."""

    def encrypt(*names, into="out", options=("-k", key), wrap=()):
        command = [*wrap, FOLDER / "gpuaes-stream", *options, "--output-dir", into, "--skip-existing", *(names or ["a"])]
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, text=True)
        assert done.returncode == 0, done.stderr
        return int(done.stderr.splitlines()[-1].split()[1])

    pathlib.Path("a").write_bytes(bytes(SIZE))
    assert encrypt() == 1
    assert encrypt() == 0
    return encrypt


def copy_time(of, to):
    os.utime(to, ns=(0, os.stat(of).st_mtime_ns))


def expect_current(key, name="a", into="out"):
    assert stream("-dk", key, f"{into}/{name}.sealed").out == content(name)


# --- What is not skipped ---------------------------------------------------------------------------------------------


def test_an_input_with_another_time(key, backup):
    """Also an older one, which was restored or moved there."""
    for seconds in 1, -1, 1e-9, -1e9:
        now = os.stat("a").st_mtime_ns + int(seconds * 1e9)
        os.utime("a", ns=(now, now))
        assert backup() == 1, seconds
        assert os.stat("out/a.sealed").st_mtime_ns == now
        assert backup() == 0, seconds


def test_an_input_that_changed_before_its_output_was_rekeyed(key, backup):
    pathlib.Path("a").write_bytes(b"new")
    stream("--rekey", "-k", key, "--new-key", key, "out/a.sealed")
    assert backup() == 1
    expect_current(key)


def test_an_output_of_another_size(key, backup):
    """It is empty, truncated, too long, or not encrypted."""
    good = content("out/a.sealed")
    for bad in b"", good[:100], good[:-1], good + b"x", good[:-16400], bytes(len(good)):
        pathlib.Path("out/a.sealed").write_bytes(bad)
        copy_time("a", "out/a.sealed")
        assert backup() == 1, len(bad)
        expect_current(key)


def test_a_decrypted_output_of_another_size(key, backup):
    restore = lambda: backup("out/a.sealed", into="back", options=("-dk", key))
    assert (restore(), restore()) == (1, 0)
    for size in 0, 1, SIZE - 1, SIZE + 1:
        os.truncate("back/out/a", size)
        copy_time("out/a.sealed", "back/out/a")
        assert restore() == 1, size
    assert content("back/out/a") == content("a")


def test_a_decrypted_output_that_was_edited(key, backup):
    backup("out/a.sealed", into="back", options=("-dk", key))
    pathlib.Path("back/out/a").write_bytes(b"edited")
    options = ["-d", "-k", key, "--output-dir", "back", "out/a.sealed"]
    assert many(*options, "--skip-existing", status=1) == (
        ["back/out/a is newer than out/a.sealed, so it is not replaced"], ["0 of 1 file decrypted, 1 failed"])
    assert content("back/out/a") == b"edited"
    many(*options)
    assert content("back/out/a") == content("a")


@pytest.mark.parametrize("change", [lambda: overwrite("a", 0, b"changed"), lambda: append("a", b"more")],
                         ids=["overwritten", "grown"])
def test_an_input_that_changes_while_it_is_read(key, tmp_path, change):
    """Its output has a time that is never that of an input."""
    with mounted("bindfs", "slow"):
        pathlib.Path("a").write_bytes(bytes(64 << 20))
        before = os.stat("a").st_mtime_ns
        child = start("gpuaes-stream", "-q", "-k", key, "-b", "1M", "-l", "cpu:1", "--output-dir", "out", "a")
        while child.poll() is None:
            change()
            os.utime("a", ns=(before, before))
        assert child.returncode == 0
    assert os.stat("out/a.sealed").st_mtime == 0
    assert many("-k", key, "--output-dir", "out", "--skip-existing", "a")[1] == ["1 file encrypted"]
    os.utime("a", (0, 0))
    many("-k", key, "--output-dir", "out", "a")
    assert many("-k", key, "--output-dir", "out", "--skip-existing", "a")[1] == ["1 file encrypted"]


def test_where_times_cannot_be_set(key, backup):
    wrap = restricted("utimensat=EPERM")
    assert backup(into="other", wrap=wrap) == backup(into="other", wrap=wrap) == 1


@pytest.mark.root
def test_a_device(key):
    """Its time does not change when it is written through a mount."""
    pathlib.Path("image").write_bytes(bytes(1 << 20))
    device = subprocess.run(["losetup", "--find", "--show", "image"], capture_output=True, text=True)
    if device.returncode != 0:
        pytest.skip(f"no loop device: {device.stderr.strip()}")
    name = device.stdout.strip()
    try:
        for _ in range(2):
            assert many("-k", key, "--output-dir", "out", "--skip-existing", name)[1] == ["1 file encrypted"]
    finally:
        subprocess.run(["losetup", "--detach", name], check=True)


def test_a_link_is_not_skipped(key, backup):
    os.rename("out/a.sealed", "out/x")
    os.symlink("x", "out/a.sealed")
    errors, _ = many("-k", key, "--output-dir", "out", "--skip-existing", "a", status=1)
    assert errors == ["out/a.sealed is a symbolic link and is not replaced"]


# --- What is skipped -------------------------------------------------------------------------------------------------


def test_what_is_current(key, backup):
    for name in "bcd":
        pathlib.Path(name).write_bytes(name.encode())
    assert backup("a", "b", "c") == 2
    assert backup("a", "b", "c", "d") == 1
    errors, notes = many("-k", key, "--output-dir", "out", "--skip-existing", "a", "missing", status=1)
    assert errors == ["cannot open missing: No such file or directory"]
    assert notes == ["0 of 2 files encrypted, 1 skipped, 1 failed"]


@pytest.mark.parametrize("options", [["-f", "age"], ["--armor"], ["-f", "age", "--armor"]])
@pytest.mark.parametrize("size", [0, 1, 65536, 65537, 16384, 1 << 20])
def test_outputs_in_each_form(options, size, backup):
    keygen("--x25519", "-o", "identity")
    pathlib.Path("b").write_bytes(bytes(size))
    recipient = ["-e", *options, "-R", "identity.pub"]
    assert backup("b", options=recipient) == 1 and backup("b", options=recipient) == 0
    restore = lambda: backup("out/b.age", into="back", options=["-d", "-k", "identity"])
    if "age" in options:
        assert (restore(), restore()) == (1, 0)


def test_an_input_that_was_joined_from_parts(key, backup):
    parts("plan", "-k", key, "-n", "2", "-i", "a", "-o", "dir")
    parts("seal", "dir")
    parts("join", "dir", "-o", "joined.sealed")
    restore = lambda: backup("joined.sealed", into="back", options=("-dk", key))
    assert (restore(), restore()) == (1, 0)
    os.truncate("back/joined", SIZE - 1)
    copy_time("joined.sealed", "back/joined")
    assert restore() == 1


def test_outputs_that_were_rekeyed(key, backup):
    """The plaintext is the same, so its time is, too."""
    keygen("-o", "other")
    stream("--rekey", "-k", key, "--new-key", key, "--new-key", "other", "out/a.sealed")
    assert os.stat("out/a.sealed").st_mtime_ns == os.stat("a").st_mtime_ns
    assert backup() == 0


COARSE = {
    "seconds of ext4": "mkfs.ext4 -q -I 128",
    "seconds of ext3": "mkfs.ext3 -q -I 128",
}


@contextlib.contextmanager
def coarse(kind, folder):
    """A file system whose times are rounded."""
    if kind not in COARSE:
        with mounted(kind, folder):
            yield
        return
    shell(f"truncate -s 64M image && PATH=$PATH:/sbin:/usr/sbin {COARSE[kind]} image")
    with mounted_by("mount -o loop image", folder):
        yield


@pytest.mark.root
@pytest.mark.parametrize("where", ["input", "output"])
def test_an_input_that_changes_within_a_unit_of_rounded_times(key, where):
    with coarse("seconds of ext4", "disk"):
        name, into = ("disk/a", "out") if where == "input" else ("a", "disk/out")
        for text in b"one", b"two":  # in the same second, if the first one is early enough
            pathlib.Path(name).write_bytes(text)
            many("-k", key, "--output-dir", into, "--skip-existing", name)
            assert stream("-dk", key, f"{into}/{name}.sealed").out == text


@pytest.mark.root
@pytest.mark.parametrize("kind", [*COARSE, "sshfs", "exFAT"])
def test_outputs_whose_times_are_rounded(key, backup, kind):
    names = [f"in/{number}" for number in range(400)]
    os.mkdir("in")
    for number, name in enumerate(names):
        pathlib.Path(name).write_bytes(bytes(number))
        os.utime(name, ns=(0, 1_700_000_001_987_654_321 + number))
    with coarse(kind, "disk"):
        assert backup(*names[:250], into="disk") == 250
        assert backup(*names, into="disk") == 150
        assert backup(*names, into="disk") == 0
        os.utime(names[7], (1_700_000_004, 1_700_000_004))
        assert backup(*names, into="disk") == 1


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
