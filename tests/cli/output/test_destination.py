"""Where -o writes: links are followed, files that are not regular are written in place, and a file that is also an
input, or already open, is not replaced."""

import os
import pathlib
import shutil
import stat
import subprocess

import pytest

from programs import KEY, RAW, expect_same, files_here, openssl_ctr, raw, secret_file, some_bytes, stream
from special_files import feeding

PLAIN = some_bytes(200_000)
HINT = "write to another file"


@pytest.fixture(autouse=True)
def plain(work):
    pathlib.Path("plain").write_bytes(PLAIN)


def expect_content(name, want):
    expect_same(want, pathlib.Path(name).read_bytes(), name)


# --- Links and special files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", ["links/relative", "links/twice"])
def test_a_link_is_followed_and_not_replaced(key, link):
    os.mkdir("links")
    os.mkdir("targets")
    pathlib.Path("targets/there").touch(0o640)
    os.symlink("../targets/there", "links/relative")
    os.symlink("relative", "links/twice")
    raw(key, "-i", "plain", "-o", link)
    assert os.path.islink(link) and os.stat("targets/there").st_mode == 0o100640
    expect_content("targets/there", openssl_ctr(PLAIN))
    assert os.listdir("targets") == ["there"] and sorted(os.listdir("links")) == ["relative", "twice"]


@pytest.mark.parametrize("name, link_to, error", [
    ("missing/out", "", "cannot create a temporary file next to missing/out: No such file or directory"),
    ("dangling", "missing/out", "dangling is a symbolic link to a file that does not exist"),
    ("circle", "circle", "cannot open circle: Too many levels of symbolic links"),
])  # fmt: skip
def test_a_name_that_cannot_be_a_file_is_refused(key, name, link_to, error):
    if link_to:
        os.symlink(link_to, name)
    before = files_here()
    found = raw(key, "-i", "plain", "-o", name, status=1)
    assert (found.error, found.hint) == (f"--output: {error}", "")
    assert files_here() == before


def test_pipes_are_written_in_place(key):
    """A FIFO, standard output, and a descriptor as with >(COMMAND) in bash."""
    os.mkfifo("fifo")
    with open("got", "wb") as got, subprocess.Popen(["cat", "fifo"], stdout=got):
        raw(key, "-i", "plain", "-o", "fifo")
    expect_content("got", openssl_ctr(PLAIN))
    expect_same(openssl_ctr(PLAIN), raw(key, "-i", "plain", "-o", "/dev/stdout").out)
    reader, writer = os.pipe()
    with open("got", "wb") as got, subprocess.Popen(["cat"], stdin=reader, stdout=got):
        raw(key, "-i", "plain", "-o", f"/dev/fd/{writer}", pass_fds=[writer])
        os.close(writer)
    os.close(reader)
    expect_content("got", openssl_ctr(PLAIN))
    assert stat.S_ISFIFO(os.stat("fifo").st_mode) and files_here() == ["fifo", "got", "plain"]


def test_a_file_that_replaces_a_fifo_while_the_secrets_are_read_is_not_written():
    os.mkfifo("fifo")
    pathlib.Path("other").write_bytes(b"other")
    with feeding("words", b"two words\n", first=lambda: os.rename("other", "fifo")):
        found = stream("--passphrase-file", "words", "-i", "plain", "-o", "fifo", status=1)
    assert (found.error, found.hint) == ("--output: fifo was replaced while it was being opened", "")
    expect_content("fifo", b"other")


# --- Inputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options, stdin, mode_of_stdout, error", [
    ("-i x -o ./link", "", "", "x and --output are the same file"),
    ("-o x", "x", "", "the input and --output are the same file"),
    ("", "x", "ab", "the input and standard output are the same file"),
    ("-i x", "", "r+b", "x and standard output are the same file"),
])  # fmt: skip
def test_an_output_that_is_the_input_under_any_name_is_refused(key, options, stdin, mode_of_stdout, error):
    os.rename("plain", "x")
    os.symlink("x", "link")
    stdout = "x" if mode_of_stdout else os.devnull
    with open(stdin or os.devnull, "rb") as source, open(stdout, mode_of_stdout or "wb") as sink:
        found = raw(key, *options.split(), stdin=source, stdout=sink, status=2)
    assert (found.error, found.hint) == (error, HINT)
    expect_content("x", PLAIN)
    assert files_here() == ["link", "x"] and os.path.islink("link")


@pytest.mark.parametrize("option, name", [("-o", "--output"), ("--stats", "--stats"), ("--trace", "--trace")])
def test_an_output_that_is_the_key_is_refused(key, option, name):
    secret_file("my.key", KEY)
    found = stream("-k", "my.key", option, "my.key", "plain", status=2)
    assert (found.error, found.hint) == (f"--key and {name} are the same file", HINT)
    expect_content("my.key", KEY)
    assert files_here() == ["my.key", "plain"]


@pytest.mark.parametrize("secret, input, error", [
    ("copy", "late", "late and --output are the same file"),
    ("late", "plain", "--key and --output are the same file"),
])  # fmt: skip
def test_an_input_or_key_that_appears_while_another_key_is_read_is_not_replaced(key, secret, input, error):
    shutil.copy(key, "copy")
    appears = "plain" if input == "late" else "copy"
    with feeding("waits", KEY, first=lambda: shutil.copy(appears, "late")):
        found = stream("-q", "-k", "waits", "-k", secret, "-i", input, "-o", "late", status=2)
    assert (found.error, found.hint) == (error, HINT)
    expect_content("late", pathlib.Path(appears).read_bytes())


@pytest.mark.parametrize("options, target", [("-o out", "plain"), ("-o new --stats out", "new")])
def test_a_link_that_changes_while_the_key_is_read_is_not_followed(key, options, target):
    os.symlink("other", "out")
    other = pathlib.Path("other")
    other.touch()
    with feeding("waits", KEY, first=lambda: (os.unlink("out"), os.symlink(target, "out"))):
        stream("-q", "-k", "waits", "-i", "plain", *options.split())
    expect_content("plain", PLAIN)
    if "--stats" in options:
        assert '"bytes_in": 200000' in other.read_text()
    stream("--test", "-k", key, "new" if "--stats" in options else "other")


# --- What is already open --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options, open_as", [("-o /dev/stdout", "stdout"), ("-o out --stats /dev/stderr", "stderr")])
def test_what_was_written_to_an_open_file_before_is_kept(key, options, open_as):
    with open("log", "wb", buffering=0) as log:
        log.write(b"before\n")
        stream(*RAW, "-k", key, "-i", "plain", *options.split(), **{open_as: log})
        log.write(b"after\n")
    text = pathlib.Path("log").read_bytes()
    assert text.startswith(b"before\n") and text.endswith(b"after\n")
    assert open_as == "stdout" or b'"bytes_in": 200000' in text
    expect_same(openssl_ctr(PLAIN), text[7:-6] if open_as == "stdout" else pathlib.Path("out").read_bytes())
