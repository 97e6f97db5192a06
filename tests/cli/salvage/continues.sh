#!/usr/bin/env bash
# --salvage recovers the undamaged parts of a stream: zeros replace each bad segment, the lost ranges are listed on
# standard error, the exit status is 4, and -o is kept. Checked on all lanes, with chunks of any size, from files and
# pipes.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from sealed_harness import *


def merged(bad, size):
    """The plaintext ranges of these segments, adjacent ones merged."""
    ranges = []
    for i in sorted(bad):
        begin, end = i * SEGMENT, min((i + 1) * SEGMENT, size)
        if ranges and ranges[-1][1] == begin:
            ranges[-1][1] = end
        else:
            ranges.append([begin, end])
    return ranges


def try_salvage(data, header, plain, bad, *options, what, via="file", out=None, cut=None):
    """bad: segments; cut: offset of a truncated input's end."""
    zeroed = bytearray(plain)
    for begin, end in merged(bad, len(plain)):
        zeroed[begin:end] = bytes(end - begin)
    what = f"{what}, {options}"
    sink = ["-o", "out"] if out else []
    command = [program, "--salvage", *options, *sink]
    with open("damaged", "wb") as f:
        f.write(data)
    with open("damaged", "rb") as f:
        got = subprocess.run(command, stdin=f, capture_output=True) if via == "file" else \
            subprocess.run(command, input=data, capture_output=True)
    lines = got.stderr.decode().splitlines()
    want = [f"gpuaes-stream: warning: the input is corrupt at byte {header + begin // SEGMENT * SEALED}; "
            f"plaintext range {begin}:{end - begin} is lost" for begin, end in merged(bad, len(plain))]
    end_is_lost = len(plain) // SEGMENT in bad
    if end_is_lost:
        want[-1] = want[-1].replace("corrupt", "corrupt or truncated").replace("is lost", "and everything after it are lost")
    lost = sum(end - begin for begin, end in merged(bad, len(plain)))
    summary = f"{lost} bytes of plaintext in {len(want)} range{'' if len(want) == 1 else 's'}"
    if cut is not None:
        error = f"the input is truncated after byte {cut}; {len(plain)} bytes of plaintext before that were verified"
        want.append("gpuaes-stream: error: " + error + (f", except for {summary}" if bad else "") + "; nothing after that was recovered")
    elif end_is_lost:
        want.append("gpuaes-stream: error: the input is truncated, or its last segment is corrupt; "
                    f"{summary} are lost, and everything after them")
    elif bad:
        want.append(f"gpuaes-stream: error: the input is corrupt; {summary} are lost")
    expect_equal(want, lines, f"{what}: standard error")
    expect_equal(4 if want else 0, got.returncode, f"{what}: exit status")
    if out:
        expect_equal(b"", got.stdout, f"{what}: standard output")
        with open("out", "rb") as f:
            expect_same(bytes(zeroed), f.read(), what)
        os.remove("out")
    else:
        expect_same(bytes(zeroed), got.stdout, what)


def spoil(data, header, bad):
    spoiled = bytearray(data)
    for i in bad:
        spoiled[min(header + i * SEALED + 7 * i % 100, len(data) - 1)] ^= 1 << i % 8
    return bytes(spoiled)


def try_all(plain, seal, header, options, lanes):
    data = seal(plain)
    last = len(plain) // SEGMENT
    cases = [[], [0], [last], [last // 2], [1, 2], [0, 1, 2], [last - 1, last], [0, 2, 4, 6], [0, last], [3, 4, 5, last],
             list(range(last)), list(range(last + 1)), [i for i in range(last) if i % 3]]
    for number, bad in enumerate(thinned(cases, 4, lanes)):
        bad = sorted({i for i in bad if 0 <= i <= last})
        for chunk in ("16K", "48K", "1M"):
            via = ("file", "pipe")[(number + len(chunk)) % 2]
            try_salvage(spoil(data, header, bad), header, plain, bad, "-l", lanes, "-b", chunk, *options, via=via,
                        out=number % 2, what=f"{len(plain)} bytes, {bad} of {last + 1} bad")


sealed = lambda plain: sf.seal(plain, [KEY])
bare = lambda plain: sf.message(KEY, b"", plain)
for lanes in LANES:
    for size in (0, 10, SEGMENT, 2 * SEGMENT) if lanes == "reference" else (0, SEGMENT, 7 * SEGMENT, 9 * SEGMENT + 5000):
        try_all(make_input(size), sealed, HEADER, ["-k", key], lanes)
    try_all(make_input(5 * SEGMENT + 100), bare, 56, ["-k", key, "-f", "cobblestone"], lanes)
for lanes in thinned(LANES, 2):
    try_all(make_input(4 * SEGMENT + 100), lambda plain: sf.seal(plain, [KEY], suite=2), HEADER, ["-k", key], lanes)

# Truncated: if fewer than 16 bytes follow the last whole segment the end is missing, otherwise the last segment is bad.
plain = make_input(4 * SEGMENT + 5000)
data = sealed(plain)
for lanes in thinned(LANES, 2):
    for whole in (0, 1, 3):
        for more in (0, 1, 15):
            end = HEADER + whole * SEALED + more
            for bad in ([], [0], [whole - 1]):
                bad = [i for i in bad if 0 <= i < whole]
                try_salvage(spoil(data[:end], HEADER, bad), HEADER, plain[: whole * SEGMENT], bad, "-l", lanes, "-b", "32K",
                            "-k", key, what=f"truncated to {end}", cut=end, out=more == 1)
        for more in (16, 17, 1000, SEALED - 1):
            end = HEADER + whole * SEALED + more
            try_salvage(data[:end], HEADER, plain[: whole * SEGMENT + more - 16], [whole], "-l", lanes, "-b", "32K",
                        "-k", key, what=f"truncated to {end}", out=more == 17)

# Many chunks in progress, all kinds of damage: ranges are reported in order and never twice.
plain = make_input(200 * SEGMENT + 1)
data = sealed(plain)
for lanes in LANES:
    if lanes == "reference":
        continue
    for bad in ([i for i in range(201) if i * 7919 % 13 < 4], list(range(50, 150)), list(range(201))):
        for chunk in ("16K", "256K"):
            for via in ("file", "pipe"):
                try_salvage(spoil(data, HEADER, bad), HEADER, plain, bad, "-l", lanes, "-b", chunk, "-k", key, via=via,
                            what=f"{len(bad)} of 201 bad")
PYTHON
