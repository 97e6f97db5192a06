"""Files made of parts by an independent implementation open on each lane: from pipes and files, with --test and with
--range, with every kind of slot, with labels and in armor."""

import base64
import os
import pathlib

import pytest

from programs import KEY, OTHER_KEYS, SANITIZED, each_way, expect_same, lanes, secret_file, some_bytes, spread, stream

pytest.importorskip("cryptography")
import parts_format as pf  # noqa: E402
import sealed_format as sf  # noqa: E402
from parts_damage import READERS, VIAS, pieces_of  # noqa: E402

LENGTHS = [0, 5, 16384, 0, 0, 16383, 40000, 1, 16385, 200000, 32768, 3, 0]  # of parts, some of them in one chunk
OTHER_KEY = bytes(32 - i for i in range(32))
CHUNKS = (["-b", "16K"], ["-b", "64K"], ["-b", "1M"], [])


def expect_open(data, plain, *options, **secret):
    """Both implementations open the data, from a pipe and from a file."""
    for via, reader in READERS.items():
        assert pf.outcome(reader(data, **(secret or {"key": KEY}))) == (0, plain)
        expect_same(plain, stream("-q", "-d", *options, input=data, via=via).out, options)


def seal(lengths):
    """The plaintext and a file with parts of these lengths, which does not state their number in each part."""
    pieces, plain = pieces_of(lengths)
    job = pf.new_job(keys=[KEY])
    return plain, pf.join(job, pf.seal_parts(job, pieces))


@pytest.mark.parametrize("k, lane", enumerate(lanes()))
def test_parts_of_equal_and_any_lengths(key, k, lane):
    slow = SANITIZED or lane.startswith("cuda")
    sizes = [0, 1, 16383, 16384, 16385, 32768, 49152, 70001]
    for i, size in list(enumerate(sizes))[k % 3 :: 3] if slow else enumerate(sizes):
        plain, parts = some_bytes(size), (1, 2, 3, 7)[(i + k) % 4]  # some of them empty
        options = ["-k", key, "-l", lane, *(["-b", "16K"], ["-b", "64K"], [])[i % 3]]
        expect_open(pf.seal(plain, parts, keys=[KEY]), plain, *options)
        if size < 20000:
            expect_open(pf.seal(plain, parts, suite=4, keys=[KEY]), plain, *options, "-c", "kuznyechik")
    plain, sealed = seal(LENGTHS)
    for chunk in spread(CHUNKS, 2) if slow else CHUNKS:
        expect_open(sealed, plain, "-k", key, "-l", lane, *chunk)
    plain, sealed = seal([10] * 3000)  # the index has several segments
    expect_open(sealed, plain, "-k", key, "-l", lane)


def test_ranges_around_the_boundaries_of_parts(batch, key):
    plain, sealed = seal(LENGTHS)
    pathlib.Path("sealed").write_bytes(sealed)
    begins = [sum(LENGTHS[:i]) for i in range(len(LENGTHS) + 1)]
    near = sorted({at + n for at in begins for n in (-1, 0, 1, 17) if 0 <= at + n <= len(plain)})
    cases = [(begin, end) for i, begin in enumerate(near) for end in near[i::5]]
    cases = spread(cases, len(cases) // 10) if SANITIZED else cases
    for i, (run, (begin, end)) in enumerate(each_way(batch, cases)):
        lane = lanes()[i % len(lanes())] if i % 8 == 0 else "cpu:1"
        run = stream if lane.startswith("cuda") else run
        options = ["--range", f"{begin}:{end - begin}", "-k", key, "-l", lane, *([], ["-b", "16K"])[i % 2]]
        expect_same(plain[begin:end], run("-q", *options, "-i", os.path.abspath("sealed")).out, options)


def test_files_tests_and_armor(key):
    plain, sealed = seal(LENGTHS)
    pathlib.Path("sealed").write_bytes(sealed)
    assert stream("-q", "--test", "-k", key, "-i", "sealed").out == b""
    assert stream("-q", "--test", "-k", key, input=sealed).out == b""
    lines = b"\n".join(base64.b64encode(sealed[i : i + 48]) for i in range(0, len(sealed), 48))
    pathlib.Path("armored").write_bytes(b"-----BEGIN GPUAES-STREAM ENCRYPTED FILE-----\n" + lines +
                                        b"\n-----END GPUAES-STREAM ENCRYPTED FILE-----\n")
    expect_same(plain, stream("-d", "-k", key, "-i", "armored").out)


@pytest.mark.parametrize("suite, size", [(pf.AES, 40000), (pf.KUZNYECHIK, 9000)])
@pytest.mark.parametrize("label", ["", "Jahresabschluß 2026"])
def test_each_kind_of_slot(key, suite, size, label):
    identity, plain = os.urandom(32), some_bytes(size)
    secret_file("identity", sf.to_text(sf.IDENTITY, identity).encode() + b"\n")
    secret_file("passphrase", b"correct horse")
    for slots, options, secret in (
            ({"keys": [OTHER_KEY, KEY]}, ["-k", key], {"key": KEY}),
            ({"recipients": [sf.public_key(identity)], "keys": [KEY]}, ["-k", "identity"], {"identity": identity}),
            ({"passphrase": b"correct horse", "log_n": 10, "keys": [KEY]}, ["--passphrase-file", "passphrase"],
             {"passphrase": b"correct horse"})):
        sealed = pf.seal(plain, 3, suite=suite, label=label.encode(), **slots)
        options += ["--label", label] if label else []
        expect_open(sealed, plain, *options, "-l", "cpu:1", "-b", "16K", label=label.encode(), **secret)


WRONG_LABEL = (
    "the input is corrupt at byte 119, in its header, or was sealed with a different label; nothing was written",
    "--label must be the text the input was sealed with, or omitted if there was none")
WRONG_KEY = ("none of the given keys opens the input", OTHER_KEYS)


@pytest.mark.parametrize("via", VIAS)
@pytest.mark.parametrize("fields, options, status, message", [
    ({"keys": [KEY], "label": b"a"}, ["--label", "b"], 4, WRONG_LABEL),
    ({"keys": [KEY], "label": b"a"}, [], 4, WRONG_LABEL),
    ({"keys": [OTHER_KEY]}, [], 3, WRONG_KEY),
])
def test_another_label_or_key_is_refused(key, via, fields, options, status, message):
    got = stream("-q", "-d", "-k", key, *options, input=pf.seal(some_bytes(40000), 3, **fields), via=via, status=status)
    assert (got.out, got.error, got.hint) == (b"", *message)
