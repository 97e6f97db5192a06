"""The output does not depend on the chunk size, which is given in units of 1024 and rounded up to whole blocks."""

import json
import pathlib

import pytest

from programs import RAW, SANITIZED, each_way, expect_same, openssl_ctr, raw, some_bytes, sparse


def stats():
    return json.loads(pathlib.Path("stats").read_text())


@pytest.mark.parametrize("count, chunk_size, size", [
    (50, "1", 800), (50, "16", 800), (50, "17", 1600), (50, "2KiB", 100 << 10), (5, "1MiB", 5 << 20)])
def test_units(key, count, chunk_size, size):
    """The number of chunks shows their size. An empty chunk at the end may also count."""
    pathlib.Path("input").write_bytes(bytes(size))
    raw(key, "-b", chunk_size, "-l", "cpu:1", "--stats", "stats", "-i", "input")
    assert stats()["lanes"][0]["chunks"] in (count, count + 1)


def test_output_does_not_depend_on_the_chunk_size(key, batch):
    cases = [("-b 1 -l cpu:1", 3000), ("-b 16 -l cpu:2", (65_536 << 4) + 37)]  # more chunks than 16 bits can count
    cases += ((f"-b {size} -l cpu:1", 300_007) for size in ("15", "17", "1000", "1K", "3K", "1M", "16M"))
    cases += (("-b 16", size) for size in (15, 16, 17, 4099))
    cases += (("-b 4K", size) for size in (4095, 4096, 4097, 200_001))
    cases += (("-b 64K", size) for size in (65_535, 65_536, 65_537, 5_000_001))
    cases += (("", size) for size in (1_048_575, 1_048_576, 1_048_577, 4_194_303, 4_194_304, 4_194_305, 20_000_003))
    plain = some_bytes(20_000_003)
    encrypted = openssl_ctr(plain)
    for run, (options, size) in each_way(batch, cases):
        for via in ("file", "pipe"):
            result = run(*RAW, "-k", key, *options.split(), input=plain[:size], via=via)
            expect_same(encrypted[:size], result.out, f"{options}, {size} bytes, {via}")


@pytest.mark.skipif(SANITIZED, reason="sanitizers use additional memory")
@pytest.mark.parametrize("options, wrap", [
    ("-i sparse -o /dev/null", []), ("", ["sh", "-c", 'cat sparse | "$@" | cat >/dev/null', "sh"])])
def test_memory_does_not_depend_on_the_size_of_the_input(key, options, wrap):
    peaks = []
    for size in (1 << 20, 512 << 20):
        sparse("sparse", size)
        raw(key, "-l", "cpu:2", "--stats", "stats", *options.split(), wrap=wrap)
        peaks.append(stats()["peak_rss_bytes"])
    # A small input does not fill the ring, which may account for 64 MiB; the default ring has at most 96 MiB.
    assert peaks[1] <= min(peaks[0] + (64 << 20), 160 << 20)
