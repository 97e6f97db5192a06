"""Expectations about files and the page cache. Commands are functions that run a program; `run` is programs.stream or
Batch.stream, for which file names must be absolute."""

import contextlib
import ctypes
import mmap
import os
import pathlib

import pytest

from processes import evict
from programs import expect_same, stream

libc = ctypes.CDLL(None, use_errno=True)


def cached_bytes(name):
    """How much of a file that is not empty is in the page cache, in whole pages."""
    with open(name, "rb") as file:
        pages = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE)
    present = ctypes.create_string_buffer(-(-len(pages) // mmap.PAGESIZE))
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    if libc.mincore(ctypes.c_void_p(start), ctypes.c_size_t(len(pages)), present) != 0:
        raise OSError(ctypes.get_errno(), "mincore")
    return sum(page & 1 for page in present.raw) * mmap.PAGESIZE


def need_direct_reads(name):
    """Skips the test unless the file is on a disk whose file system has direct reads and allows eviction."""
    evict(name)
    if os.major(os.stat(name).st_dev) == 0 or not can_read_directly(name) or cached_bytes(name) != 0:
        pytest.skip(f"{os.getcwd()} does not allow direct reads, or eviction from the page cache")


def can_read_directly(name):
    try:
        fd = os.open(name, os.O_RDONLY | os.O_DIRECT)
    except OSError:
        return False
    try:
        return os.readv(fd, [mmap.mmap(-1, 4096)]) > 0
    except OSError:
        return False
    finally:
        os.close(fd)


def expect_uncached(name):
    """At most a small part of a file is in the page cache: a header, and the kernel's readahead."""
    cached, size = cached_bytes(name), os.path.getsize(name)
    assert cached <= size // 8, f"expected {name} not to be in the page cache, but {cached} of {size} bytes are"


@contextlib.contextmanager
def opened_at(offset, name):
    """A descriptor of the file, after reading that many bytes."""
    fd = os.open(name, os.O_RDONLY)
    os.read(fd, offset)
    yield fd
    os.close(fd)


def keeps_cache(name, command):
    """The command reads the file, and does not change whether it is in the page cache."""
    evict(name)
    command()
    expect_uncached(name)
    for _ in range(3):  # other programs may empty the page cache at the same time
        pathlib.Path(name).read_bytes()
        command()
        if cached_bytes(name) >= os.path.getsize(name):
            return
    pytest.fail(f"expected {name} to be in the page cache, but only {cached_bytes(name)} bytes of it are")


def keeps_cache_when_opened(key, name, *options):
    """Opening the file in each way does not change whether it is in the page cache."""
    for way in (["-d"], ["--test"], ["-d", "--range", "1000000:"], ["-d", "--share", "1/2"]):
        keeps_cache(name, lambda way=way: stream("-q", "-k", key, *way, *options, "-i", name))


def uncached(name, run, *options, **how):
    """The output of a run that reads the file while it is not in the page cache."""
    evict(name)
    return run("-q", *options, **how).out


def opens_uncached(run, key, name, plain, *options):
    """Opening the file in each way, while it is not in the page cache, gives the plaintext."""
    secret, source = ["-k", key], ["-i", os.path.abspath(name)]
    for way, want in (
        (["-d"], plain),
        (["--test"], b""),
        (["--salvage"], plain),
        (["-d", "--range", "30000:200000"], plain[30000:230000]),
    ):
        expect_same(want, uncached(name, run, *secret, *way, *options, *source), f"{way}, {options}")
    with open(name, "rb") as file:
        expect_same(plain, uncached(name, stream, *secret, "-d", *options, stdin=file), f"standard input, {options}")
    parts = [uncached(name, run, *secret, "-d", *options, "--share", f"{i}/3", *source) for i in range(3)]
    expect_same(plain, b"".join(parts), f"--part, {options}")
