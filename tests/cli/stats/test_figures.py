"""--stats writes JSON with consistent sums."""

import json
import pathlib

import pytest

from parts_steps import seal_in_parts
from programs import expect_same, openssl_ctr, raw, some_bytes, stream

CHUNK = 65536


@pytest.mark.parametrize("via", ["file", "pipe"])
@pytest.mark.parametrize("lanes", [1, 3])
@pytest.mark.parametrize("size", [0, 1, CHUNK, CHUNK + 1, 3000001])
def test_sums(key, size, lanes, via):
    plain = some_bytes(size)
    pathlib.Path("plain").write_bytes(plain)
    ends, given = (["-i", "plain"], b"") if via == "file" else (["-o", "out"], plain)
    found = raw(key, "-b", "64K", "-l", f"cpu:{lanes}", "--stats", "stats", *ends, input=given).out
    expect_same(openssl_ctr(plain), found if via == "file" else pathlib.Path("out").read_bytes())
    stats = json.loads(pathlib.Path("stats").read_bytes())
    assert stats["bytes_in"] == stats["bytes_out"] == sum(lane["bytes"] for lane in stats["lanes"]) == size
    assert 0 <= stats["seconds"] < 60 and 0 < stats["cpu_seconds"] < 60
    assert isinstance(stats["peak_rss_bytes"], int) and stats["peak_rss_bytes"] > 1 << 20
    assert len(stats["lanes"]) == lanes
    for lane in stats["lanes"]:
        assert lane["name"].startswith("cpu")
        for name in ("busy_seconds", "read_seconds", "write_seconds", "wait_seconds"):
            assert 0 <= lane[name] <= stats["seconds"] + 0.1
    full_chunks = -(-size // CHUNK)
    assert full_chunks <= sum(lane["chunks"] for lane in stats["lanes"]) <= size + 1
    ring = stats["ring"]
    assert ring["chunks"] >= min(lanes, full_chunks) and ring["chunk_bytes"] == CHUNK
    for name in ("reader_wait_seconds", "lanes_wait_seconds", "writer_wait_seconds"):
        assert 0 <= ring[name] <= stats["seconds"] * lanes + 0.1
    assert abs(ring["lanes_wait_seconds"] - sum(lane["wait_seconds"] for lane in stats["lanes"])) < 1e-4


@pytest.mark.parametrize("via", ["file", "pipe"])
def test_bytes_of_a_file_in_parts(key, via):
    seal_in_parts(key, some_bytes(100_000), 3, "sealed")
    sealed = pathlib.Path("sealed").read_bytes()
    stream("-q", "-d", "-k", key, "--stats", "stats", "-o", "out", input=sealed, via=via)
    stats = json.loads(pathlib.Path("stats").read_bytes())
    assert (stats["bytes_in"], stats["bytes_out"]) == (len(sealed), 100_000)
