"""A directory stands for the regular files below it, as if they had been named."""

import json
import os
import pathlib
import subprocess

import pytest

from programs import FOLDER, content, keygen, parts, stream
from test_output_dir import many

NAMES = ["tree/.hidden", "tree/a", "tree/b/c/d", "tree/b/e", "tree/b.txt", "tree/two words"]


@pytest.fixture
def tree():
    """Also with a temporary file, which is not read."""
    os.makedirs("tree/b/c")
    os.makedirs("tree/empty")
    os.makedirs("elsewhere")
    for name in [*NAMES, "elsewhere/file", "tree/.a.gpuaes-x7Yz01"]:
        pathlib.Path(name).write_text(name)


def files_below(folder):
    return sorted(os.path.join(where, name) for where, _, names in os.walk(folder) for name in names)


def test_there_and_back(key, tree):
    assert many("-k", key, "--output-dir", "enc", "tree") == ([], ["6 files encrypted"])
    assert files_below("enc") == sorted(f"enc/{name}.sealed" for name in NAMES)
    os.chdir("enc")
    assert many("-d", "-k", key, "--output-dir", "../back", ".") == ([], ["6 files decrypted"])
    os.chdir("..")
    assert files_below("back") == sorted(f"back/{name}" for name in NAMES)
    assert all(content(f"back/{name}") == content(name) for name in NAMES)


@pytest.mark.parametrize("named", ["tree", "tree/", "./tree//", "link"])
def test_names_are_those_of_the_files(key, tree, named):
    os.symlink("tree", "link")
    assert many("-k", key, "--output-dir", "enc", named) == ([], ["6 files encrypted"])
    assert files_below("enc") == sorted(f"enc/{name}.sealed".replace("tree", named.strip("./"), 1) for name in NAMES)


def test_files_and_directories_together(key, tree):
    assert many("-k", key, "--output-dir", "enc", "elsewhere/file", "tree", "elsewhere", status=1) == (
        ["elsewhere/file and another input have the same output, elsewhere/file.sealed"], ["7 of 8 files encrypted, 1 failed"])


def encrypt_tree(key):
    many("-k", key, "--output-dir", "enc", "tree")
    return sorted(f"enc/{name}.sealed" for name in NAMES)


def test_the_order_is_that_of_the_names(key, tree):
    order = ["tree/.hidden", "tree/a", "tree/b/c/d", "tree/b/e", "tree/b.txt", "tree/two words"]
    encrypt_tree(key)
    assert stream("--test", "-k", key, "enc").out.decode().splitlines() == [f"enc/{name}.sealed: ok" for name in order]
    lines = stream("--info", "--json", "enc/").out.decode().splitlines()
    assert [json.loads(line)["file"] for line in lines] == [f"enc/{name}.sealed" for name in order]


def test_rekey(key, tree):
    names = encrypt_tree(key)
    keygen("-o", "new")
    assert many("--rekey", "-k", key, "--new-key", "new", "enc")[1][-1] == "6 files rekeyed"
    for name in names:
        stream("--test", "-k", "new", name)


@pytest.mark.parametrize("directory, root, count", [("tree/enc", "tree", 6), ("enc", ".", 7), ("./tree/b/enc/", "tree/", 6)])
def test_the_output_directory_is_skipped(key, tree, directory, root, count):
    for _ in range(2):
        assert many("-k", key, "--output-dir", directory, root) == ([], [f"{count} files encrypted"])
        assert len(files_below(directory)) == count


def test_a_sealed_file_in_parts_is_one_input(key, tree):
    pathlib.Path("plain").write_bytes(bytes(1000))
    os.utime("plain", (1_000_000_000, 1_000_000_000))
    os.mkdir("enc")
    parts("plan", "-k", key, "-n", "2", "-i", "plain", "-o", "enc/disk.sealed")
    parts("seal", "enc/disk.sealed")
    parts("join", "enc/disk.sealed")
    for named in "enc", "enc/disk.sealed":
        assert many("-d", "-k", key, "--output-dir", "back", named) == ([], ["1 file decrypted"])
        assert content("back/enc/disk") == bytes(1000)
        assert many("-d", "-k", key, "--output-dir", "back", "--skip-existing", named) == ([], ["1 file decrypted"])
    assert stream("--test", "-k", key, "enc").out == b"enc/disk.sealed: ok\n"
    assert many("-k", key, "--output-dir", "again", "enc") == ([], ["4 files encrypted"])


def test_a_key_below_the_directory_is_not_encrypted(tree):
    keygen("-o", "tree/key")
    errors, notes = many("-k", "tree/key", "--output-dir", "enc", "tree", status=1)
    assert errors == ["--key and the input are both read from tree/key"]
    assert notes == ["6 of 7 files encrypted, 1 failed"]


@pytest.mark.parametrize("options", [["--test"], ["--info"], ["--rekey", "--new-key"], ["-d", "--output-dir", "back"],
                                     ["--output-dir", "out"]])
def test_each_directory_without_files_is_an_error(key, tree, options):
    """Its disk may not be mounted."""
    encrypt_tree(key)
    secrets = [] if "--info" in options else [key, "-k", key] if "--new-key" in options else ["-k", key]
    for others in [], ["enc"]:
        found = stream(*options, *secrets, "tree/empty", *others, status=1)
        assert found.error == "tree/empty contains no files"


def test_links_and_special_files_are_skipped_with_a_note(key):
    os.makedirs("mixed/below")
    os.mkfifo("mixed/c")
    os.symlink("below", "mixed/b")
    os.symlink("d", "mixed/below/a")
    pathlib.Path("mixed/below/d").touch()
    note = "skipped 3 links or special files below directories, the first of them mixed/b"
    assert many("-k", key, "--output-dir", "enc", "mixed") == ([], [note, "1 file encrypted"])
    os.symlink("missing", "enc/mixed/a")
    found = stream("--test", "-k", key, "enc")
    assert (found.out, found.notes) == (
        b"enc/mixed/below/d.sealed: ok\n",
        ["skipped 1 link or special file below directories, the first of them enc/mixed/a"])


def test_the_note_names_the_first_special_file_of_all_directories(key, tree):
    os.mkfifo("tree/z")
    os.mkfifo("tree/b/fifo")
    note = "skipped 2 links or special files below directories, the first of them tree/b/fifo"
    assert many("-k", key, "--output-dir", "enc", "tree") == ([], [note, "6 files encrypted"])


def test_only_names_of_temporary_files_are_left_out(key, tree):
    names = ["ab.gpuaes-x7Yz01", ".a.gpuaes-x7Yz0", ".a.gpuaes-x7-z01", ".gpuaes-x7Yz01"]
    for name in names:
        pathlib.Path("tree/empty", name).touch()
    assert many("-k", key, "--output-dir", "enc", "tree/empty") == ([], ["4 files encrypted"])


def test_a_directory_with_a_head_is_one_input_if_it_has_the_index_the_job_file_or_a_part(key, tree):
    """Otherwise, it is a directory with a file of this name."""
    pathlib.Path("plain").write_bytes(bytes(1000))
    parts("plan", "-k", key, "-n", "1", "-i", "plain", "-o", "disk")
    parts("seal", "disk")
    parts("join", "disk")
    os.unlink("disk/index")
    assert stream("--test", "-k", key, "disk", status=1).error == "disk is not joined"
    os.unlink("disk/part.0000000")
    assert stream("--test", "-k", key, "disk", status=4).error.startswith("disk/head: ")


@pytest.mark.parametrize("mode, name", [(0, "tree/empty"), (0o444, "tree/empty/file")])
def test_what_cannot_be_read_below_a_directory_is_an_error_of_its_own(key, tree, request, mode, name):
    """Without permission to search a directory, it is not known whether its names are those of files."""
    user = None
    if os.getuid() == 0:  # who can read everything
        user = request.getfixturevalue("users")[0]
        os.chmod(".", 0o777)
        os.chown(key, user.uid, user.uid)
    pathlib.Path("tree/empty/file").touch()
    os.chmod("tree/empty", mode)
    found = stream("-k", key, "--output-dir", "enc", "tree", user=user, status=1)
    os.chmod("tree/empty", 0o700)
    assert found.error == f"cannot open {name}: Permission denied"
    assert found.notes == ["6 of 7 files encrypted, 1 failed"]


def test_a_directory_whose_path_is_too_long_is_an_error_of_its_own(key, tree, work):
    name = "x" * 250
    os.chdir("tree")
    for _ in range(17):
        os.mkdir(name)
        os.chdir(name)
    os.chdir(work)
    os.mkfifo("tree/b/fifo")
    errors, notes = many("-k", key, "--output-dir", "enc", "tree", status=1)
    assert errors == [f"cannot open {'/'.join(['tree', *17 * [name]])}: File name too long"]
    assert notes == ["skipped 1 link or special file below directories, the first of them tree/b/fifo",
                     "6 of 7 files encrypted, 1 failed"]


def test_a_name_with_two_dots_is_refused_once(key, tree):
    os.chdir("elsewhere")
    assert many("-k", key, "--output-dir", "enc", "../tree", status=2)[0] == [
        "the name ../tree contains .., so its output could be outside the directory"]


def test_one_output_is_not_for_a_directory(key, tree):
    for options in ["-k", key, "-o", "out"], ["-d", "-k", key]:
        assert stream(*options, "tree", status=1).error
    assert stream("--rekey", "-k", key, "--new-key", key, "-o", "out", "tree", status=2).error == (
        "--rekey of several files cannot be used with --output")


def test_a_hint_is_printed_once(key, tree):
    found = subprocess.run([FOLDER / "gpuaes-stream", "--test", "-k", key, "tree"], capture_output=True, text=True)
    lines = found.stderr.splitlines()
    assert found.returncode == 4 and sum(": error: " in line for line in lines) == len(NAMES)
    assert sum(": hint: " in line for line in lines) == 1
