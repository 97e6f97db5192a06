"""A file that is not in the page cache gives the same output as any other, and the page cache keeps its contents."""

import itertools
import os
import pathlib

import pytest

from page_cache import (evict, expect_uncached, keeps_cache, keeps_cache_when_opened, need_direct_reads, opened_at,
                        opens_uncached, uncached)
from programs import RAW, SANITIZED, each_way, expect_same, flipped, openssl_ctr, raw, some_bytes, spread, stream

LANES = [["-l", "cpu:3"]] if SANITIZED else [["-l", "cpu:1"], ["-l", "cpu:3"], []]
CHUNKS = [["-b", "256K"]] if SANITIZED else [["-b", "256K"], []]
LARGE = 12_345_678


def write(name, data):
    pathlib.Path(name).write_bytes(data)


def read_first_half(name):
    with open(name, "rb") as file:
        file.read(os.path.getsize(name) // 2)


def read_second_half(name):
    with open(name, "rb") as file:
        file.seek(os.path.getsize(name) // 2)
        file.read()


def expect_output(key, batch, names, then=lambda name: None):
    """Encrypts the files as openssl does, from the start and from an offset. Before each run the file is evicted, and
    `then` is called."""
    data = {name: pathlib.Path(name).read_bytes() for name in names}
    want = {name: [openssl_ctr(data[name][offset:]) for offset in (0, 1000)] for name in names}
    cases = list(itertools.product(names, LANES, CHUNKS))
    for run, (name, lanes, chunk) in each_way(batch, cases):
        evict(name)
        then(name)
        result = run(*RAW, "-k", key, *lanes, *chunk, "-i", os.path.abspath(name))
        expect_same(want[name][0], result.out, f"{name}, {lanes}, {chunk}")
    for offset, (name, lanes, chunk) in [(0, case) for case in spread(cases)] + [(1000, case) for case in cases]:
        evict(name)
        then(name)
        with opened_at(offset, name) as file:
            result = raw(key, *lanes, *chunk, stdin=file)
            expect_same(want[name][offset > 0], result.out, f"{name} from {offset}, {lanes}, {chunk}")
            assert os.lseek(file, 0, os.SEEK_CUR) == len(data[name])


@pytest.mark.parametrize("then", [lambda name: None, read_first_half, read_second_half])
def test_a_large_file_that_may_be_half_cached(key, batch, then):
    write("plain", some_bytes(LARGE))
    expect_output(key, batch, ["plain"], then)


def test_sealed_files(key, batch, work):
    """They are sealed, opened, tested and salvaged as a whole and in parts."""
    salvaged = {}
    for size in (250000, 300001, 2000003):
        write(f"plain{size}", some_bytes(size))
        sealed = stream("-q", "-k", key, "-i", f"plain{size}").out
        damaged = flipped(sealed, 20000, 190000)
        write(f"sealed{size}", sealed)
        write(f"damaged{size}", damaged)
        salvaged[size] = stream("-q", "-k", key, "--salvage", status=4, input=damaged).out
    for run, (size, lanes, chunk) in each_way(batch, itertools.product(salvaged, LANES, [["-b", "16K"], *CHUNKS])):
        options = ["-k", key, *lanes, *chunk]
        opens_uncached(run, key, f"sealed{size}", some_bytes(size), *lanes, *chunk)
        name = work / f"damaged{size}"
        expect_same(salvaged[size], uncached(name, run, *options, "--salvage", "-i", name, status=4), options)
        name = work / f"plain{size}"
        sealed = uncached(name, run, *options, "-i", name)
        expect_same(some_bytes(size), batch.stream("-q", "-k", key, "-d", input=sealed).out, options)


@pytest.mark.parametrize("options", ["-l cpu:1 -b 256K", "-l cpu:3 -b 256K", "-l cpu:3", ""])
def test_what_is_cached_does_not_change(key, options):
    write("plain", some_bytes(8_000_003))
    need_direct_reads("plain")
    stream("-q", "-k", key, "-i", "plain", "-o", "sealed")
    write("damaged", flipped(pathlib.Path("sealed").read_bytes(), 4_000_000))
    options = options.split()
    keeps_cache("plain", lambda: raw(key, *options, "-i", "plain"))
    keeps_cache("plain", lambda: stream("-q", "-k", key, *options, "-i", "plain"))
    keeps_cache_when_opened(key, "sealed", *options)
    keeps_cache("damaged", lambda: stream("-q", "-k", key, *options, "--salvage", "-i", "damaged", status=4))


def test_standard_input_at_an_offset_is_not_cached(key):
    write("plain", some_bytes(8_000_003))
    need_direct_reads("plain")
    with open("plain", "rb", buffering=0) as file:
        file.seek(1000)
        raw(key, "-l", "cpu:3", stdin=file)
    expect_uncached("plain")
