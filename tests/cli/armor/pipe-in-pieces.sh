#!/usr/bin/env bash
# Armor works as a filter: text that arrives in any pieces is decrypted, verified segments are written before the rest
# arrives, and memory use does not depend on the length.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from armor import *
from sealed_harness import *


def pipe(*options):
    return spawn("-q", "-k", key, "-l", "cpu:1", *options, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                 stderr=subprocess.PIPE, bufsize=0)


plain = make_input(200)
text = armor(sf.seal(plain, [KEY]))
for step in (1, 3, 64, 65, 66):
    child = pipe("-d")
    for at in range(0, len(text), step):
        child.stdin.write(text[at : at + step])
    expect_equal((plain, b""), child.communicate(timeout=PATIENCE), f"pieces of {step} bytes")

# A segment is written as soon as all of its lines have arrived.
plain = make_input(3 * SEGMENT)
text = armor(sf.seal(plain, [KEY]))
child, sent = pipe("-d"), 0
for segments in (1, 2, 3):
    data = HEADER + segments * SEALED
    end = len(BEGIN) + 1 + (data + 47) // 48 * 65
    child.stdin.write(text[sent:end])
    sent, got = end, b""
    while len(got) < SEGMENT:
        if not select.select([child.stdout], [], [], PATIENCE)[0]:
            fail(f"expected {segments} segments, got {len(got)} bytes of the last")
        got += os.read(child.stdout.fileno(), SEGMENT)
    expect_same(plain[(segments - 1) * SEGMENT : segments * SEGMENT], got, f"segment {segments}")
child.stdin.write(text[sent:])
expect_equal((b"", b""), child.communicate(timeout=PATIENCE), "after the last segment")

# So is encryption, except for the rest of a line.
child = pipe("-a")
child.stdin.write(plain[: 2 * SEGMENT])
lines = (HEADER + 2 * SEALED) // 48
got = b""
while len(got) < len(BEGIN) + 1 + 65 * lines:
    if not select.select([child.stdout], [], [], PATIENCE)[0]:
        fail(f"expected {lines} lines, got {len(got)} bytes")
    got += os.read(child.stdout.fileno(), 1 << 16)
out, _ = child.communicate(plain[2 * SEGMENT :], timeout=PATIENCE)
expect_equal((0, plain), open_independently(dearmor(got + out)), "sealed in two steps")

# Input that begins like armor or like a sealed stream, but is neither.
for begin in (b"-----BEGIN PGP", b"gpuaes-stream/x\n", b"-----begin gpu", b"\n\n-----BEGIN AGE"):
    child = pipe("-d")
    child.stdin.write(begin)
    child.stdin.close()
    expect_exit(child, 4, f"{begin}, then nothing")
PYTHON

sanitized && exit
make_input 50000000 plain
expect_exit 0 gsealed -a -l cpu:1 -b 64K --stats "$work/stats1" <plain
mv "$work/stdout" armored
expect_exit 0 gsealed -d -l cpu:1 -b 64K --stats "$work/stats2" <armored
same plain "$work/stdout"
for stats in stats1 stats2; do
  bytes=$(grep -o '"peak_rss_bytes": [0-9]*' "$work/$stats" | grep -o '[0-9]*$')
  [ "$bytes" -lt 40000000 ] || fail "expected less memory than the input has, got $bytes bytes"
done
grep -q '"bytes_in": 50000000, "bytes_out": 50049007' "$work/stats1" || fail "--stats -a: $(<"$work/stats1")"
grep -q '"bytes_in": 50049007, "bytes_out": 50000000' "$work/stats2" || fail "--stats -d: $(<"$work/stats2")"
