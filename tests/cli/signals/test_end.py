"""A signal ends the programs promptly, whatever they do, without a message, a core dump or an unfinished file."""

import fcntl
import os
import resource
import signal
import subprocess
import time

import pytest

from processes import cpu_seconds, expect_death_by, expect_exit, feed, finish, wait_for, wait_until_idle
from programs import SANITIZED, STOP_SIGNALS, secret_file, some_bytes, start, start_raw, stream
from special_files import hide_proc

SOME = [signal.SIGHUP, signal.SIGINT, signal.SIGTERM]
PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.fixture(autouse=True)
def files(key):
    os.mkfifo("fifo")
    os.mkdir("out")
    with open("out/old", "w") as old, open("sparse", "wb") as sparse:
        old.write("old")
        sparse.truncate(1 << 28)
    core = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (core[1], core[1]))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, core)
    assert os.listdir("out") == ["old"]
    with open("out/old") as old:
        assert old.read() == "old"


def expect_deaths(children, signals, fed=b""):
    """Feeds each program, waits until it is idle, and ends it with a signal."""
    for child in children if fed else []:
        child.stdin.write(fed)
        child.stdin.flush()
    wait_until_idle(*children)
    assert not os.path.exists("out/new")
    for child, number in zip(children, signals, strict=True):
        expect_death_by(child, number)
        assert not child.communicate()[1]


@pytest.mark.parametrize("signals, fed, options", [
    # It opens a FIFO whose other end is not open.
    (SOME, 0, "-i fifo -o out/new"),
    (STOP_SIGNALS, 0, "-i fifo -o out/old"),
    (SOME, 0, "-o fifo"),
    # It waits for input.
    (SOME, 0, "-i /dev/stdin"),
    (SOME, 0, "-b 4K -o out/new"),
    (SOME, 30, "-b 4K -o out/old"),
    (STOP_SIGNALS, 40000, "-b 4K -o out/old"),
    # The reader of its output is stalled: it keeps its end open, but does not read.
    (SOME, 0, "-i /dev/zero"),
    (SOME, 0, "-i sparse -b 64K -l cpu:3"),
])
def test_while_it_waits(key, signals, fed, options):
    children = [start_raw(key, *options.split(), **PIPES) for _ in signals]
    expect_deaths(children, signals, some_bytes(fed))


def test_while_it_opens_a_key():
    expect_deaths([start("gpuaes-stream", "-k", "fifo", **PIPES) for _ in SOME], SOME)


def test_while_it_rekeys(key):
    sealed = stream("-q", "-k", key, input=some_bytes(100_000)).out
    options = ["-q", "--rekey", "-k", key, "--new-key", key, "-o", "out/old"]
    expect_deaths([start("gpuaes-stream", *options, **PIPES) for _ in STOP_SIGNALS], STOP_SIGNALS, sealed[:50_000])


@pytest.mark.root
def test_while_its_output_has_a_temporary_name(key):
    """The file is removed."""
    options = ["-b", "4K", "-o", "out/old"]
    children = [start_raw(key, *options, wrap=hide_proc(), **PIPES) for _ in STOP_SIGNALS]
    wait_for(lambda: len(os.listdir("out")) == 1 + len(children), "the temporary names")
    expect_deaths(children, STOP_SIGNALS, some_bytes(40_000))


def test_while_the_reader_of_a_fifo_is_stalled(key):
    reader = os.open("fifo", os.O_RDWR)
    expect_deaths([start_raw(key, "-i", "sparse", "-o", "fifo", **PIPES) for _ in SOME], SOME)
    os.close(reader)


def expect_death_at_work(child, number):
    wait_for(lambda: cpu_seconds(child.pid) > 0.1, "the program at work")
    expect_death_by(child, number)


@pytest.mark.parametrize("number", SOME)
@pytest.mark.parametrize("options", ["-i /dev/zero -o /dev/null", "-l cpu:1 -i /dev/zero -o out/new"])
def test_at_full_speed(key, number, options):
    expect_death_at_work(start_raw(key, *options.split()), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("direction, content", [("-e", b"plain"), ("-d", b"Salted__12345678 and more")])
def test_while_it_derives_a_key(work, direction, content, number):
    words = secret_file(work.parent / "words", b"words\n")
    with open("input", "wb") as file:
        file.write(content)
    child = start("gpuaes-stream", "-q", "-f", "openssl", "--iter", "2000000000", "--passphrase-file", words,
                  "-o", "out/new", "-i", "input", direction, stderr=subprocess.PIPE)
    expect_death_at_work(child, number)
    assert child.stderr.read() == b""


def test_with_a_large_chunk_that_is_almost_empty(key):
    """Memory that the chunk does not need is not touched."""
    child = start_raw(key, "-b", "1G", "-l", "cpu:1", stdin=subprocess.PIPE)
    feed(child, some_bytes(100))
    resources = expect_death_by(child, signal.SIGTERM)
    assert SANITIZED or resources.ru_maxrss <= 256 << 10  # KiB


def test_the_cpu_time_limit_ends_it(key):
    options = ["-q", "-k", key, "-c", "kuznyechik", "-l", "cpu:1", "-i", "/dev/zero", "-o", "out/old"]
    child = start("gpuaes-stream", *options, wrap=["sh", "-c", 'ulimit -S -t 1; exec "$@"', "sh"])
    expect_exit(child, -signal.SIGXCPU)


def test_keygen_leaves_complete_files_or_none():
    """Whenever the signal arrives."""
    rounds = 120
    for i in range(rounds):
        number = STOP_SIGNALS[i % len(STOP_SIGNALS)]
        options = [[], ["--x25519"]][i // len(STOP_SIGNALS) % 2]
        child = start("gpuaes-keygen", *options, "-o", "out/key")
        time.sleep(0.006 * i / rounds)
        child.send_signal(number)
        assert finish(child) in (0, -number)
        left = sorted(set(os.listdir("out")) - {"old"})
        assert left in ([], ["key", "key.pub"] if options else ["key"])
        for name in left:
            assert os.path.getsize(f"out/{name}") >= 63
            os.remove(f"out/{name}")


def test_keygen_removes_an_identity_whose_recipient_was_not_printed():
    """Here because the pipe is full."""
    reader, writer = os.pipe()
    os.write(writer, bytes(fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20)))  # the program makes smaller pipes larger
    children = [start("gpuaes-keygen", "--x25519", "-o", f"out/{number}", stdout=writer) for number in STOP_SIGNALS]
    wait_until_idle(*children)
    assert len(os.listdir("out")) == 1 + 2 * len(children)
    for child, number in zip(children, STOP_SIGNALS):
        expect_death_by(child, number)
    os.close(reader)
    os.close(writer)
