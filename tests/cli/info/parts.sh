#!/usr/bin/env bash
# --info shows how many parts a file has and their sizes, from the frame headers of a file and without a key. Parts that do
# not add up to the file are reported as truncated, whatever numbers the frames state.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
import json

from parts_harness import *


def info(*options, data, via="file"):
    got = run("--info", *options, data=data, via=via)
    expect_equal((0, b""), (got.code, got.err), f"--info {options}: exit status and messages")
    return got.out.decode()


def facts(data, via="file"):
    known = json.loads(info("--json", data=data, via=via))
    expect_equal(("sealed", 1, HEAD, False),
                 tuple(known[name] for name in ("format", "version", "header_bytes", "armor")), "JSON")
    return tuple(known[name] for name in ("parts", "segments", "plaintext_bytes", "overhead_bytes", "truncated"))


for suite in (pf.AES, pf.KUZNYECHIK):
    for lengths in ([0], [1], [16383], [16384], [0, 0, 0], [16385, 0, 40000, 5], [3] * 500):
        job = pf.new_job(suite, keys=[KEY])
        parts = pf.seal_parts(job, [make_input(length) for length in lengths])
        data, plain = pf.join(job, parts), sum(lengths)
        want = (len(lengths), sum(length // SEGMENT + 1 for length in lengths), plain, len(data) - plain, False)
        expect_equal(want, facts(data), f"parts of {lengths[:5]} bytes")
        expect_equal((None,) * 5, facts(data, via="pipe"), f"parts of {lengths[:5]} bytes from a pipe")

job = pf.new_job(keys=[KEY], file_key=bytes(32))
parts = pf.seal_parts(job, [make_input(16384), b"", make_input(100)], 3)
whole = pf.join(job, parts)
expect_equal(f"""format         sealed, version 1
suite          03
cipher         aes-256
authenticated  yes
slot 1         key file
header         119 bytes
size           {len(whole)} bytes
parts          3
segments       4
plaintext      16484 bytes
overhead       {len(whole) - 16484} bytes, {100 * (len(whole) - 16484) / 16484:.2f} %
""", info(data=whole), "text")
expect_equal("parts          1, and the rest is missing: the input is truncated or damaged",
             info(data=whole[: HEAD + len(parts[0]) + 10]).splitlines()[-1], "text of a truncated file")
for name, data in ("WHOLE", whole), ("CUT", whole[:-1]):
    with open(name, "wb") as f:
        f.write(data)
expect_equal("WHOLE: sealed, version 1, aes-256, 1 slot, 3 parts, 16484 bytes of plaintext\n"
             "CUT: sealed, version 1, aes-256, 1 slot, truncated\n", run("--info", "WHOLE", "CUT").out.decode(), "lines")

# Truncated anywhere, extended, or with other fields.
begins = [HEAD + len(b"".join(parts[:i])) for i in range(4)]
for end in [*range(HEAD, HEAD + 100, 3), *range(begins[1] - 20, len(whole), 4), len(whole) - 1]:
    got = facts(whole[:end])
    expect_equal((sum(end >= begin for begin in begins[1:]), None, None, True), (got[0], *got[2:]), f"truncated to {end}")
expect_equal(True, facts(whole + b"\0")[-1], "one more byte")


def changed(at, number, size):
    return whole[:at] + number.to_bytes(size, "big") + whole[at + size :]


for name, at, size, numbers in (
        ("kind", 0, 1, (0, 3, 255)), ("number", 1, 4, (7, 2**20, 2**32 - 1)), ("of", 5, 4, (1, 4, 2**20 + 1, 2**32 - 1)),
        ("length", 9, 8, (1, 16385, 2**52 - 1, 2**52, 2**63, 2**64 - 16, 2**64 - 1))):
    for frame, begin in enumerate(begins):
        for number in numbers:
            got = facts(changed(begin + at, number, size))
            expect_equal((None, None, True), got[2:], f"frame {frame}, {name} {number}")
for number in (0, 1, 2, 4, 2**20, 2**20 + 1, 2**64 - 1):
    expect_equal((3, None, None, True), (facts(changed(len(whole) - 8, number, 8))[0], *facts(
        changed(len(whole) - 8, number, 8))[2:]), f"number of parts {number}")
PYTHON
