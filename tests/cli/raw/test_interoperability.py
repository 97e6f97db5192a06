"""The raw format and openssl enc, or gost-engine for Kuznyechik, produce the same output and read each other's. The
counter is a big-endian number of 128 bits: it carries past 2^32 and 2^64 and wraps at 2^128."""

import functools
import itertools
import subprocess

import pytest

from programs import IV, KEY, RAW, each_way, expect_same, openssl_ctr, raw, secret_file, some_bytes, stream

UNAUTHENTICATED = "the raw format is not authenticated; modifications will go undetected"
CARRIES = [
    "000000000000000000000000ffffffff", "0123456789ABCDEF01234567fffffff0", "0000000000000000ffffffffffffffff",
    "01234567fffffffffffffffffffffff3", "ffffffffffffffffffffffffffffffff", "fffffffffffffffffffffffffffffff8",
    "00000000ffffffffffffffffffffff00",
]
reference = functools.cache(openssl_ctr)


def expect_as_openssl(batch, work, sizes, ivs, all_options):
    for way, (size, iv, key_size, options) in each_way(batch, itertools.product(sizes, ivs, (16, 24, 32), all_options)):
        plain, key = some_bytes(size), KEY[:key_size]
        expected = reference(plain, key, iv)
        sources = (expected, plain) if options == "-d" else (plain, expected)
        key_file = secret_file(work / f"key{8 * key_size}", key)
        got = way("-f", "raw", "--iv", iv, "-q", "-k", key_file, *options.split(), input=sources[0])
        expect_same(sources[1], got.out, (size, iv, key_size, options))


def test_openssl_at_lengths_around_every_boundary(batch, work):
    expect_as_openssl(batch, work, (0, 1, 15, 16, 17, 255, 16383, 16384, 16385), [IV], ["", "-d"])


def test_the_counter_carries(batch, work):
    expect_as_openssl(batch, work, [5003], CARRIES, ["-b 16 -l cpu:3", "-b 64 -l cpu:2", "-b 4K -l cpu:1"])


def test_gost_engine(batch, work, key):
    @functools.cache
    def gost(data, iv, *options):
        command = ["openssl", "enc", "-engine", "gost", "-kuznyechik-ctr", "-K", KEY.hex(), "-iv", iv, "-nosalt"]
        return subprocess.run([*command, *options], input=data, capture_output=True).stdout

    iv, last = "1234567890abcef0", "ffffffffffffffff"
    if not gost(b"x", iv):
        pytest.skip("openssl has no engine gost; Debian's libengine-gost-openssl provides it")
    sizes = (0, 1, 15, 16, 17, 31, 33, 511, 512, 513, 1023, 1025, 4096, 16383, 65537, 1000003)
    small_chunks = ["-b 16 -l cpu:3"]  # too many for the largest size
    others = ["-b 80 -l cpu:2", "-b 4K -l cpu:1", "-l cpu:3", "-l auto", "-d"]
    cases = [(size, iv, options) for size in sizes for options in small_chunks[size > 70000 :] + others]
    for way, (size, iv, options) in each_way(batch, [*cases, (5003, last, "")]):
        plain, sealed = some_bytes(size), gost(some_bytes(size), iv)
        source, expected = (sealed, plain) if options == "-d" else (plain, sealed)
        way = stream if "auto" in options else way
        got = way(*"-f raw -c kuznyechik -q --iv".split(), iv, "-k", key, *options.split(), input=source, via="file")
        expect_same(expected, got.out, (size, options))
        expect_same(plain, gost(sealed, iv, "-d"))


def test_one_warning_that_it_is_not_authenticated(key):
    plain = some_bytes(1000000)
    for direction, size in itertools.product(("-e", "-d"), ("4K", "1M")):
        result = stream(direction, *RAW[:4], "-k", key, "-b", size, input=plain)
        assert result.err == f"gpuaes-stream: warning: {UNAUTHENTICATED}\n"
    assert raw(key, input=plain).err == ""
    missing = raw(key, "-i", "missing", status=1)
    assert (missing.error, missing.warnings) == ("--input: cannot open missing: No such file or directory", [])
