"""What one file may take is a bound of the whole run: many files need little more memory than one, wait for each other where
there is less, and do not fail because others take it."""

import os
import pathlib
import subprocess

import pytest

from programs import COVERAGE, FOLDER, SANITIZED, secret_file, some_bytes, stream

pytestmark = pytest.mark.skipif(SANITIZED, reason="sanitizers need more memory")

MIB = 1 << 20
COUNT = 5  # the first on its own, and enough others to exceed each bound if they do not wait for each other
MORE_FOR_MANY = 300 * MIB


@pytest.fixture
def words():
    return secret_file("../words", b"correct horse\n")


def make_files(count=COUNT):
    names = [f"{number}" for number in range(count)]
    for name in names:
        pathlib.Path(name).write_bytes(some_bytes(4096))
    return names


def peak(*options):
    """The most memory that the program had, in bytes."""
    child = subprocess.Popen([FOLDER / "gpuaes-stream", "-q", *options], stdin=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, options
    return used.ru_maxrss * 1024


def expect_bounded(options, names):
    one = peak(*options, names[0])
    assert 128 * MIB <= one
    assert peak(*options, *names[1:]) <= one + MORE_FOR_MANY, options


@pytest.mark.parametrize("format", ["sealed", "age"])
def test_passphrases_of_many_files(words, format):
    names = make_files(COUNT if format == "sealed" else COUNT - 1)
    expect_bounded(["-f", format, "--passphrase-file", words, "--output-dir", "out"], names)
    sealed = [f"out/{name}.{format}" for name in names]
    expect_bounded(["-d", "--passphrase-file", words, "--output-dir", "back"], sealed)
    assert all(pathlib.Path("back/out", name).read_bytes() == pathlib.Path(name).read_bytes() for name in names)


def test_new_passphrases_of_many_files(key, words):
    names = make_files()
    stream("-k", key, "--output-dir", "out", *names)
    expect_bounded(["--rekey", "-k", key, "--new-passphrase-file", words], [f"out/{name}.sealed" for name in names])


@pytest.mark.root
@pytest.mark.parametrize("limit", [200, 400])
def test_control_group(words, group, limit):
    """Where one file fits, many do."""
    group.limit(limit * MIB)
    names = make_files()
    found = stream("--passphrase-file", words, "--output-dir", "out", *names, wrap=group.run_in)
    assert found.notes == [f"{COUNT} files encrypted"]
    if limit == 400:
        sealed = [f"out/{name}.sealed" for name in names]
        found = stream("-d", "--passphrase-file", words, "--output-dir", "back", *sealed, wrap=group.run_in)
        assert found.notes == [f"{COUNT} files decrypted"]


def test_large_chunks_of_many_files(key):
    """Each thread has a ring."""
    names = make_files(12)
    for name in names:
        os.truncate(name, 20 * MIB)
    one = peak("-k", key, "-b", "64M", "--output-dir", "out", names[0])
    assert peak("-k", key, "-b", "64M", "--output-dir", "out", *names[1:]) <= one + MORE_FOR_MANY


def wrap_limit(option, limit):
    return ["sh", "-c", f'ulimit {option} {limit} && exec "$@"', "sh"]


@pytest.mark.skipif(COVERAGE, reason="programs that count branches need more memory")
@pytest.mark.parametrize("option, limits", [
    ("-v", [20_000, 30_000, 40_000, 60_000, 80_000, 100_000, 150_000, 200_000, 400_000, 700_000, 1_000_000]),
    ("-d", [6_000, 10_000, 30_000, 60_000, 100_000, 200_000])])
def test_limits_of_the_shell(key, option, limits):
    """Where one file fits, many do, with fewer threads."""
    names = make_files(60)
    worked = 0
    for limit in limits:
        wrap = wrap_limit(option, limit)
        if stream("-k", key, "-o", "one", names[0], status=None, wrap=wrap).status != 0:
            assert worked == 0, limit
            continue
        worked += 1
        for _ in range(2):  # the second time replaces outputs
            assert stream("-k", key, "--output-dir", "out", *names, wrap=wrap).notes == ["60 files encrypted"], limit
        sealed = [f"out/{name}.sealed" for name in names]
        assert stream("-dk", key, "--output-dir", "back", *sealed, wrap=wrap).notes == ["60 files decrypted"], limit
        found = stream("--rekey", "-k", key, "--new-key", key, *sealed, wrap=wrap)
        assert "60 files rekeyed" in found.notes, limit
    assert worked > len(limits) // 2


def test_passphrases_within_limits_of_the_shell(words):
    names = make_files()
    found = stream("--passphrase-file", words, "--output-dir", "out", *names, wrap=wrap_limit("-v", 300_000))
    assert found.notes == [f"{COUNT} files encrypted"]


def test_a_file_that_needs_more_memory_than_there_is(key, words):
    """It is an error of that file only, which the message names."""
    names = make_files(3)
    stream("--passphrase-file", words, "-o", "1.sealed", "1")
    for name in "0", "2":
        stream("-k", key, "-o", f"{name}.sealed", name)
    sealed = [f"{name}.sealed" for name in names]
    for action in (["-d", "--output-dir", "back"], ["--test"]):
        options = [*action, "-k", key, "--passphrase-file", words, *sealed]
        found = stream(*options, status=1, wrap=wrap_limit("-v", 120_000))
        assert found.error.startswith("1.sealed: deriving a key from the passphrase requires 130 MiB of memory, but only ")
        assert found.hint == "raise the memory limit of the service, container or shell (ulimit)"
    assert sorted(os.listdir("back")) == ["0", "2"]
