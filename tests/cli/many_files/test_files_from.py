"""--files-from reads names as they are needed: one that cannot be used is an error of that file."""

import json
import os
import pathlib
import subprocess
import sys
import threading

import pytest

from processes import expect_exit, wait_for
from programs import FOLDER, KEY, secret_file, start, stream
from special_files import mounted_by
from test_output_dir import many

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
    for options in ["-tk", key], ["--info"], ["--rekey", "-k", key, "--new-key", key], ["-k", key, "--output-dir", "out"]:
        found = stream(*options, "--files-from", "list", status=1)
        assert (found.out, found.error) == (b"", "list names no files")


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
        "name 8 in list: a key was given instead of a file name", f"cannot open {'x' * 256}: File name too long"])
    assert notes == [skipped(1, "out/b.sealed", "out"),
                     "2 of 10 files encrypted, 8 failed"]
    assert outputs() == ["a.sealed", "b.sealed"]


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


@pytest.mark.parametrize("options, data, error, hint", [
    ([], b"a\r\nb\r\n", "line 1 of list ends with a carriage return", "tr -d"),
    ([], b"\xef\xbb\xbfa\nb\n", "list begins with a UTF-8 byte order mark", "without a byte order mark"),
    ([], b"\xff\xfea\0\n\0", "list begins with a UTF-16 byte order mark", "without a byte order mark"),
    (["--null"], b"a\nb\n", "name 1 in list ends with a newline", "omit --null"),
])  # fmt: skip
def test_a_list_in_another_form(key, options, data, error, hint):
    """Each error is that of a name, which may also be the name of a file."""
    make("a", "b")
    pathlib.Path("list").write_bytes(data)
    done = subprocess.run([FOLDER / "gpuaes-stream", "-k", key, "--output-dir", "out", "--files-from", "list", *options],
                          capture_output=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    lines = done.stderr.decode().splitlines()
    assert lines[0] == f"gpuaes-stream: error: {error}" and hint in lines[1]


@pytest.mark.parametrize("options", ["-dk {} --output-dir out", "-k {} --output-dir out", "-tk {}", "--info --json",
                                     "--rekey -k {0} --new-key {0}"])  # fmt: skip
def test_a_secret_in_a_list_is_not_shown(key, options):
    write_list(KEY.hex(), f"../{KEY.hex()}")
    done = subprocess.run([FOLDER / "gpuaes-stream", *options.format(key).split(), "--files-from", "list"],
                          capture_output=True, stdin=subprocess.DEVNULL, text=True)
    assert done.returncode == 1 and KEY.hex() not in done.stderr + done.stdout
    assert [line for line in done.stderr.splitlines() if "error: " in line] == [
        f"gpuaes-stream: error: name {number} in list: a key was given instead of a file name" for number in (1, 2)]


def test_a_missing_file_between_null_bytes(key):
    make("a")
    write_list("missing", "a", end="\0", last="\0")
    assert many("-k", key, "--output-dir", "out", "--files-from", "list", "--null", status=1) == (
        ["cannot open missing: No such file or directory"], ["1 of 2 files encrypted, 1 failed"])


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


# --- A list of a tree that contains the outputs ----------------------------------------------------------------------


def find_and_encrypt(key, directory, *options, where=".", status=0):
    """Encrypts what find lists in the current directory."""
    names = [os.path.join(folder, name) for folder, _, names in os.walk(where, followlinks=True) for name in names]
    pathlib.Path("../list").write_text("\n".join(sorted(names)))
    return many("-k", key, "--output-dir", directory, "--files-from", "../list", *options, status=status)


def skipped(count, first, directory):
    names = f"{count} file{'s' if count > 1 else ''}"
    return f"skipped {names}, the first of them {first}: outputs in {directory}, or temporary files"


@pytest.fixture
def tree(work):
    os.mkdir("tree")
    os.chdir("tree")
    make("a", "in/b", "in/c")


@pytest.mark.parametrize("directory", ["enc", "./enc/", "link", "in/../enc"])
def test_outputs_of_earlier_runs_are_left_out(key, tree, directory):
    os.mkdir("enc")
    os.symlink("enc", "link")
    assert find_and_encrypt(key, directory) == ([], ["3 files encrypted"])
    make("in/b")
    note = skipped(6, "./enc/a.sealed", directory)  # also by the link
    assert find_and_encrypt(key, directory, "--skip-existing") == ([], [note, "1 of 3 files encrypted, 2 skipped"])
    assert find_and_encrypt(key, directory, "--skip-existing") == ([], [note, "0 of 3 files encrypted, 3 skipped"])
    assert sorted(os.listdir("enc")) == ["a.sealed", "in"] and sorted(os.listdir("enc/in")) == ["b.sealed", "c.sealed"]


@pytest.mark.root
def test_outputs_are_left_out_of_a_bind_mount(key, tree):
    os.mkdir("enc")
    with mounted_by("mount --bind enc", "mounted"):
        assert find_and_encrypt(key, "enc") == ([], ["3 files encrypted"])
        assert find_and_encrypt(key, "enc", "--skip-existing") == (
            [], [skipped(6, "./enc/a.sealed", "enc"), "0 of 3 files encrypted, 3 skipped"])


def test_outputs_next_to_their_inputs_are_left_out(key, tree):
    """Other files with such a name are not: one that is the output of no file, and one that is not encrypted."""
    make("in/d.sealed")
    assert find_and_encrypt(key, ".") == ([], ["4 files encrypted"])
    for _ in range(2):
        assert find_and_encrypt(key, ".", "--skip-existing") == (
            [], [skipped(4, "./a.sealed", "."), "0 of 4 files encrypted, 4 skipped"])
    make("B", "B.sealed")
    errors, notes = find_and_encrypt(key, ".", "--skip-existing", status=1)
    assert errors == ["B.sealed is not an encrypted file, so the output for ./B does not replace it"]
    assert notes[-1] == "1 of 6 files encrypted, 4 skipped, 1 failed"
    assert pathlib.Path("B.sealed").read_bytes() == b"B.sealed"


def test_a_decrypted_file_does_not_replace_an_encrypted_one_that_may_be_listed(key):
    make("a")
    for name in "a", "a.sealed":
        stream("-k", key, name, "-o", f"{name}.sealed")
    before = pathlib.Path("a.sealed").read_bytes()
    write_list("a.sealed.sealed", "a.sealed")
    errors, notes = many("-dk", key, "--output-dir", ".", "--files-from", "list", status=1)
    assert errors == ["a.sealed is named like an encrypted file, so the output for a.sealed.sealed does not replace it"]
    assert notes == ["1 of 2 files decrypted, 1 failed"]
    assert pathlib.Path("a.sealed").read_bytes() == before


def test_links_to_outputs_are_left_out(key, tree):
    assert find_and_encrypt(key, "enc", where="in") == ([], ["2 files encrypted"])
    os.symlink("../enc/in/b.sealed", "in/link")
    assert find_and_encrypt(key, "enc", where="in") == ([], [skipped(1, "in/link", "enc"), "2 files encrypted"])


def test_outputs_next_to_their_inputs_are_replaced(key, tree):
    """Also armored, or empty, as some file systems leave them after a power failure."""
    for options in [], ["--armor"]:
        find_and_encrypt(key, ".", *options)
        os.truncate("a.sealed", 0)
        make("in/b")
        errors, notes = find_and_encrypt(key, ".", *options)
        assert errors == [] and notes[0].startswith("skipped ") and notes[-1].endswith(" files encrypted")
        for name in "a", "in/b":
            assert stream("-dk", key, f"{name}.sealed").out == name.encode()


def test_listed_files_are_decrypted_next_to_them_again(key, tree):
    find_and_encrypt(key, ".")
    write_list("a.sealed", "in/b.sealed")
    for _ in range(2):
        make("../plain")
        assert many("-d", "-k", key, "--output-dir", ".", "--files-from", "list") == ([], ["2 files decrypted"])


def test_temporary_and_kept_files_are_left_out(key, tree):
    make("in/.b.gpuaes-kept", "in/.b.gpuaes-x7Yz01", "in/.b.gpuaes-note", "in/b.gpuaes-kept")
    assert find_and_encrypt(key, "../out") == (
        [], [skipped(2, "./in/.b.gpuaes-kept", "../out"), "5 files encrypted"])


def test_a_list_of_nothing_but_outputs_is_an_error(key, tree):
    find_and_encrypt(key, "enc")
    errors, notes = find_and_encrypt(key, "enc", where="enc", status=1)
    assert errors == [skipped(3, "enc/a.sealed", "enc") + "; there are no others"]
    assert notes == ["0 files encrypted"]


def test_a_file_that_becomes_a_fifo_is_an_error_of_that_file(key):
    """It is opened without waiting, and what was opened is checked."""
    make("a", "b", "c")
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            os.mkfifo("fifo")
            os.rename("fifo", "b")
            pathlib.Path("file").write_bytes(b"b")
            os.rename("file", "b")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for _ in range(50):
            found = stream("-k", key, "--output-dir", "out", "a", "b", "c", status=(0, 1))
            assert found.status == 0 or found.error == "b is not a regular file"
    finally:
        stop.set()
        swapper.join()


LEASE = """
import fcntl, os, signal, sys, time
file = os.open("a", os.O_RDWR)
broken = []
signal.signal(signal.SIGIO, lambda *_: broken.append(True))
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("leased", flush=True)
while not broken:
    time.sleep(0.01)
time.sleep(0.2)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
"""


def test_a_file_under_a_lease_is_opened_once_that_ends(key):
    """File servers hold leases for their clients."""
    make("a")
    with subprocess.Popen([sys.executable, "-c", LEASE], stdout=subprocess.PIPE) as holder:
        try:
            if holder.stdout.readline() != b"leased\n":
                pytest.skip("the file system has no leases")
            assert many("-k", key, "--output-dir", "out", "a") == ([], ["1 file encrypted"])
        finally:
            holder.kill()
