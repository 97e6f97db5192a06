#!/usr/bin/env bash
# Files made of parts by an independent implementation open on each lane: from pipes and files, with --test and with
# --range, with every kind of slot, with labels and in armor.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
import base64

from parts_harness import *

SIZES = [0, 1, 16383, 16384, 16385, 32768, 49152, 70001]


def opens(data, plain, *options, what, **secret):
    """Both implementations open the data, from a pipe and from a file."""
    for reader, via in (pf.read_pipe, "pipe"), (pf.read_file, "file"):
        expect_equal((0, plain), pf.outcome(reader(data, **(secret or {"key": KEY}))), f"{what}: independent reader, {via}")
        expect_open(data, plain, *options, what=f"{what}, {via}", via=via)


# Equal cuts, which have their number of parts in `of`, with more parts than units and empty parts.
for k, lanes in enumerate(LANES):
    for i, size in enumerate(thinned(SIZES, 3, lanes, k)):
        plain, parts = make_input(size), (1, 2, 3, 7)[(i + k) % 4]
        options = ["-l", lanes, *(["-b", "16K"], ["-b", "64K"], [])[i % 3]]
        opens(pf.seal(plain, parts, keys=[KEY]), plain, *options, what=f"{size} bytes, {parts} parts")
        if size < 20000:
            sealed = pf.seal(plain, parts, suite=4, keys=[KEY])
            opens(sealed, plain, *options, "-c", "kuznyechik", what=f"{size} bytes, {parts} parts, Kuznyechik")

# Any lengths, with `of` 0. Several parts in a chunk, and several chunks in a part.
lengths = [0, 5, 16384, 0, 0, 16383, 40000, 1, 16385, 200000, 32768, 3, 0]
pieces = [make_input(length + 99)[99:] for length in lengths]
plain = b"".join(pieces)
job = pf.new_job(keys=[KEY])
sealed = pf.join(job, pf.seal_parts(job, pieces))
for lanes in LANES:
    for options in thinned((["-b", "16K"], ["-b", "64K"], ["-b", "1M"], []), 3, lanes):
        opens(sealed, plain, "-l", lanes, *options, what="parts of any lengths")
    if lanes != "reference":
        many = make_input(3000 * 10)
        pieces = [many[i : i + 10] for i in range(0, len(many), 10)]
        opens(pf.join(job, pf.seal_parts(job, pieces)), many, "-l", lanes, what="3000 parts, an index of several segments")

# --test, ranges around the boundaries of parts, and armor.
secret_file("sealed", sealed)
expect(0, b"", "--test", "-k", key, "-i", "sealed", what="--test")
expect(0, b"", "--test", "-k", key, data=sealed, what="--test")
begins = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
near = sorted({at + n for at in begins for n in (-1, 0, 1, 17) if 0 <= at + n <= len(plain)})
cases = [(a, b - a) for i, a in enumerate(near) for b in near[i :: 5]]
for i, (offset, length) in enumerate(thinned(cases, 10)):
    lanes = LANES[i % len(LANES)] if i % 8 == 0 else "cpu:1"
    expect(0, plain[offset : offset + length], "--range", f"{offset}:{length}", "-k", key, "-i", "sealed", "-l", lanes,
           *([], ["-b", "16K"])[i % 2], what="a range")
secret_file("armored", b"-----BEGIN GPUAES-STREAM ENCRYPTED FILE-----\n%b\n-----END GPUAES-STREAM ENCRYPTED FILE-----\n"
            % b"\n".join(base64.b64encode(sealed[i : i + 48]) for i in range(0, len(sealed), 48)))
expect_open(b"", plain, "-i", "armored", what="armor")

# Slots and labels.
plain = make_input(40000)
identity, text = os.urandom(32), sf.to_text
secret_file("identity", text(sf.IDENTITY, identity).encode() + b"\n")
secret_file("passphrase", b"correct horse")
secrets = {
    "key file": ({"keys": [OTHER_KEY, KEY]}, ["-k", key], {"key": KEY}),
    "identity": ({"recipients": [sf.public_key(identity)], "keys": [KEY]}, ["-k", "identity"], {"identity": identity}),
    "passphrase": ({"passphrase": b"correct horse", "log_n": 10, "keys": [KEY]},
                   ["--passphrase-file", "passphrase"], {"passphrase": b"correct horse"}),
}
for name, (seals, options, secret) in secrets.items():
    for suite in (pf.AES, pf.KUZNYECHIK):
        for label in ("", "Jahresabschluß 2026"):
            data = pf.seal(plain[: 40000 if suite == pf.AES else 9000], 3, suite=suite, label=label.encode(), **seals)
            opens(data, plain[: 40000 if suite == pf.AES else 9000], *options, *(["--label", label] if label else []), *QUICK,
                  what=f"{name}, label '{label}', suite {suite}", label=label.encode(), **secret)
expect_refused(4, pf.seal(plain, 3, keys=[KEY], label=b"a"), "--label", "b", what="another label")
expect_refused(4, pf.seal(plain, 3, keys=[KEY], label=b"a"), via="file", what="no label")
expect_refused(3, pf.seal(plain, 3, keys=[OTHER_KEY]), what="another key")
PYTHON
