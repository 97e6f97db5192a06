#!/usr/bin/env bash
# --range OFFSET:LENGTH gives exactly these bytes of the plaintext, around boundaries of blocks and segments and up to
# the end, for every format that has ranges, on all lanes.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
import random

from sealed_harness import *


def ranges_of(size):
    near = {0, 1, 15, 16, 17, size} | {size - n for n in (1, 15, 16, 17)}
    for i in range(size // SEGMENT + 2):
        near |= {i * SEGMENT + n for n in (-1, 0, 1)}
    near = sorted(n for n in near if 0 <= n <= size)
    return [(a, b - a) for a in near for b in near if b >= a]


def try_range(name, plain, offset, length, *options):
    text = f"{offset}:{length}" if length is not None else f"{offset}:"
    end = len(plain) if length is None else offset + length
    result = run("--range", text, *options, "-i", name)
    if result.code != 0 or result.err:
        fail(f"{options} {text} of {len(plain)}: expected success, got {result.code}: {result.err.decode()}")
    expect_same(plain[offset:end], result.out, f"{options} {text} of {len(plain)}")


random.seed(1)
secret_file("key128", KEY[:16])
for size in (0, 5, 2 * SEGMENT, 3 * SEGMENT + 1000):
    plain = make_input(size)
    streams = {
        "sealed": (sf.seal(plain, [KEY]), ["-k", key]),
        "kuznyechik": (sf.seal(plain, [KEY], suite=2) if size <= 2 * SEGMENT else None, ["-k", key]),
        "cobblestone": (sf.message(KEY, b"", plain), ["-k", key, "-f", "cobblestone"]),
        "cobblestone-128": (sf.message(KEY[:16], b"\1", plain), ["-k", "key128", "-f", "cobblestone", "--context", "01"]),
        "raw": (reference(plain), ["-k", key, "-f", "raw", "--iv", iv]),
        "raw-kuznyechik": (None, ["-k", key, "-f", "raw", "--iv", iv[:16], "-c", "kuznyechik"]),
    }
    for name, (data, options) in streams.items():
        if data is None:
            encrypt = options if "raw" in options else [*options, "-c", "kuznyechik"]
            data = run(*encrypt, data=plain).out
        secret_file(name, data)
        cases = ranges_of(size)
        few = 4 if slow else 40
        for offset, length in random.sample(cases, min(few, len(cases))):
            try_range(name, plain, offset, length, "-l", "cpu:2", "-b", "16K", *options)
        for offset in {0, size // 2, size}:
            try_range(name, plain, offset, None, *options)

# Chunks of many segments, all kinds of lanes; files read in parallel, and small files, which are not.
for size in (60000, 1000003):
    plain = make_input(size)
    secret_file("sealed", sf.seal(plain, [KEY]))
    secret_file("raw", reference(plain))
    for lanes in LANES:
        for offset, length in thinned([(0, size), (1, size - 1), (size // 3, size // 3), (size - 5, 5), (SEGMENT, SEGMENT),
                                       (SEGMENT - 1, 2 * SEGMENT + 2)], 3, lanes):
            if lanes == "reference" and length > 100000:
                continue
            for chunk in ("16K", "1M"):
                try_range("sealed", plain, offset, length, "-l", lanes, "-b", chunk, "-k", key)
                try_range("raw", plain, offset, length, "-l", lanes, "-b", chunk, "-k", key, "-f", "raw", "--iv", iv)
PYTHON

# Suffixes, -d, -o, and --stats.
make_input 3000000 plain
gsealed -e -i plain -o sealed
dd if=plain bs=1024 skip=1024 count=10 status=none >expected
expect_exit 0 gsealed -d --range 1M:10K -i sealed -o part --stats figures
same expected part
grep -q '"bytes_out": 10240,' figures || fail "expected 10240 bytes of output, got: $(<figures)"
for range in 1024K:10K 1048576:10240; do
  expect_exit 0 gsealed --range "$range" -i sealed
  same expected "$work/stdout" "$range"
done
