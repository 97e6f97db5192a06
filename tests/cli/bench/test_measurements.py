"""gpuaes-bench memory reports a rate for each measurement, and so do the commands for CUDA devices if there is one."""

import csv
import itertools
import re

import pytest

from programs import NO_CUDA, PATIENCE, has_cuda, run, some_bytes

MINUTES = 4 * PATIENCE  # for measurements of many kernels


def bench(words, **how):
    return run("gpuaes-bench", *words.split(), **how)


def bench_device(words):
    """The result of a measurement of CUDA devices. Without a device, it must fail, and the test is skipped."""
    how = {"input": some_bytes(3_000_000), "via": "file", "timeout": MINUTES}
    if has_cuda():
        return bench(words, **how)
    result = bench(words, status=1, **how)
    assert result.out == b"" and re.fullmatch(NO_CUDA, result.error)
    pytest.skip("no CUDA device is here")


def rows_of(result):
    """The rows of a report as CSV, each a dictionary."""
    return list(csv.DictReader(result.out.decode().splitlines()))


def fields(row, names):
    return tuple(row[name] for name in names.split())


def are_rates(row, names):
    return all(float(rate) > 0 for rate in fields(row, names))


def test_memory():
    want = []
    for cipher, aead in ("aes-128", "gcm"), ("kuznyechik", "mgm"):
        want += itertools.product([cipher], ["1048576", "262144"], ["ctr", f"{aead} seal", f"{aead} open"], ["1"])
    rows = rows_of(bench("memory --csv 1 --ciphers aes-128,kuznyechik"))
    assert [fields(row, "cipher chunk_bytes mode threads") for row in rows] == want
    assert all(are_rates(row, "gb_per_s") for row in rows)


def test_device():
    rows = rows_of(bench_device("device 1M --csv"))
    for what in ("to device", "from device", "both at once, each way"):
        want = ("cuda:0", what, "1048576", "GB/s")
        assert [row for row in rows if fields(row, "device what bytes unit") == want and are_rates(row, "value")], what


def test_limits():
    rows = [row for row in rows_of(bench_device("limits --csv")) if row["unit"] in ("TB/s", "10^12/s")]
    assert len(rows) == 8 and all(are_rates(row, "value") for row in rows)


def test_transfer():
    rows = rows_of(bench_device("transfer --steps read,in,read+in+out --streams 1,2 --sizes 1M --csv"))
    want = [(steps, "1", streams, "1048576", ring)
            for streams, ring in (("1", "2"), ("2", "4")) for steps in ("read", "in", "read+in+out")]  # fmt: skip
    assert [fields(row, "steps devices streams bytes ring_mib") for row in rows] == want
    assert all(are_rates(row, "gb_per_s cpu_s_per_gb") for row in rows)


def test_keys():
    rows = rows_of(bench_device("keys --ciphers aes-128,kuznyechik --modes ctr,open --csv"))
    want = itertools.product(["bitslice"], ["aes-128", "kuznyechik"], ["ctr", "open"], ["67108864"], ["8"])
    assert [fields(row, "variant cipher mode bytes series") for row in rows] == list(want)
    for row in rows:
        assert row["runs"].isdigit() and are_rates(row, "zeros_gb_per_s ones_gb_per_s random_gb_per_s")
        assert all(float(row[f"{what}_spread_percent"]) >= 0 for what in ("keys", "one_key"))


def test_kernels():
    """The filter's kernel has all modes, and the others have ctr."""
    aes, kuznyechik = ["aes-128", "aes-192", "aes-256"], ["kuznyechik"]
    tables = [f"ls-{memory}" for memory in ("constant", "global", "shared", "texture")]
    rest = [["1024000", "16"]]
    want = {*itertools.product(["bitslice"], aes + kuznyechik, ["ctr", "seal", "open"], *rest),
            *itertools.product(["ttable"], aes + kuznyechik, ["ctr"], *rest),
            *itertools.product(["sbox-constant", "ttable4-shared"], aes, ["ctr"], *rest),
            *itertools.product(tables, kuznyechik, ["ctr"], *rest)}  # fmt: skip
    rows = rows_of(bench_device(
        "kernels --variants bitslice,ttable,sbox-constant,ttable4-shared,ls-* --modes ctr,aead "
        "--ciphers aes-128,aes-192,aes-256,kuznyechik --sizes 1000K,16 --csv"))  # fmt: skip
    assert len(rows) == len(want) and {fields(row, "variant cipher mode bytes") for row in rows} == want
    for row in rows:
        limits = fields(row, "limit limit_gb_per_s share_of_limit registers local_bytes resident_warps")
        assert are_rates(row, "gb_per_s limit_gb_per_s share_of_limit"), row
        assert re.fullmatch("[a-z ]+", limits[0]) and all(cost.isdigit() for cost in limits[3:]), row
        if row["variant"] == "bitslice" and row["cipher"] in aes:
            assert row["local_bytes"] == "0", row
        blocks = {"bitslice": "", "ttable": "", "sbox-constant": "[0-9]+"}.get(row["variant"], "[124]")
        assert row["variant"] == "ttable4-shared" or re.fullmatch(blocks, row["blocks_per_thread"]), row
