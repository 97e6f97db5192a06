"""A file that is not in the page cache is sealed in parts, and a file in parts is opened like any other, as a directory
or a single file. None is read into the page cache."""

import shutil

import pytest

from page_cache import keeps_cache, keeps_cache_when_opened, need_direct_reads, opens_uncached, uncached
from parts_steps import join, plan, seal, write_input
from processes import evict
from programs import expect_same, some_bytes, stream

PARTS = [f"dir/part.000000{i}" for i in range(3)]


def seal_new(key, *options):
    """Seals `plain` as the new directory `dir` with three parts."""
    shutil.rmtree("dir", ignore_errors=True)
    plan(key, "dir", "-q", input="plain", count=3)
    for i in range(3):
        seal("dir", i, "-q", *options)


@pytest.mark.parametrize("options", [["-l", "cpu:1", "-b", "256K"], ["-l", "cpu:3", "-b", "16K"], []])
@pytest.mark.parametrize("size", [300001, 2000003])
def test_the_plaintext_is_the_same(key, size, options):
    plain = some_bytes(size)
    write_input("plain", plain)
    evict("plain")
    seal_new(key, *options)
    join("dir", "-q", "-o", "joined")
    opens_uncached(stream, key, "joined", plain, *options)
    for name in PARTS:
        evict(name)
    expect_same(plain, stream("-q", "-k", key, "-d", *options, "dir").out)
    opened = [uncached(name, stream, "-k", key, "-d", *options, "--part", i, "dir") for i, name in zip("012", PARTS)]
    expect_same(plain, b"".join(opened))


@pytest.mark.parametrize("options", [["-l", "cpu:1", "-b", "256K"], ["-l", "cpu:3"], []])
def test_the_page_cache_stays_the_same(key, options):
    write_input("plain", some_bytes(8000003))
    need_direct_reads("plain")
    keeps_cache("plain", lambda: seal_new(key, *options))
    join("dir", "-q", "-o", "joined")
    keeps_cache_when_opened(key, "joined", *options)
    for part in ["--part", "1"], []:
        keeps_cache(PARTS[1], lambda: stream("-q", "-d", "-k", key, *options, *part, "dir"))
