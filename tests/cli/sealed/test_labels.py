"""A file sealed with --label opens with exactly that label, also in an independent implementation, and does not contain
the label."""

import itertools
import os
import pathlib

import pytest

from matrix import thinned
from processes import unfinished_files
from programs import KEY, each_way, expect_same, files_here, flipped, secret_file, some_bytes, stream

pytest.importorskip("cryptography")
import age_format as age  # noqa: E402
import sealed_format as sf  # noqa: E402
from damage import HEADER, SEALED, SEGMENT, expect_damage, open_independently  # noqa: E402

PLAIN, OTHER_KEY = some_bytes(2 * SEGMENT + 100), bytes(range(32, 0, -1))
NFC, NFD = "caf\u00e9".encode(), "cafe\u0301".encode()
ERROR = "the input is corrupt at byte 119, in its header, or was encrypted with a different label; nothing was written"
HINT = "--label must be the text the input was encrypted with, or omitted if there was none"
HEADER_HINT = "if the header is damaged, put back a copy of it (gpuaes-recipes(7))"


def with_label(label):
    return ["--label", os.fsdecode(label)] if label else []


@pytest.mark.parametrize("suite, cipher", [(1, []), (2, ["-c", "kuznyechik"])])
def test_a_label_is_needed_to_decrypt(batch, key, suite, cipher):
    labels = [b"a", b"backup 2026-11-21 /srv", NFC, NFD, " \n\t\x01\x1b\x7f\u0080\ufeff".encode(), b"x" * 255, b"\x01",
              "\U0001f512\U0010ffff".encode(), "\u00e9".encode() * 127 + b"x", b"gpuaes-stream/1\n\x01"]
    for number, (run, label) in enumerate(each_way(batch, labels)):
        plain, via = some_bytes((0, 20000, SEGMENT)[number % 3]), ("pipe", "file")[number % 2]
        made = run("-q", "-k", key, *cipher, *with_label(label), input=plain, via=via)
        assert made.err == "" and len(made.out) == HEADER + len(plain) + 16 * (len(plain) // SEGMENT + 1)
        assert len(label) <= 3 or label.startswith(sf.MAGIC) or label not in made.out
        expect_same(plain, sf.open_sealed(made.out, key=KEY, label=label), label)
        assert open_independently(made.out) == (4, b"")
        independent = sf.seal(plain, [KEY], suite=suite, label=label)
        expect_same(plain, run("-q", "-d", "-k", key, *with_label(label), input=independent, via=via).out, label)


@pytest.mark.parametrize("suite", [1, 2])
@pytest.mark.parametrize("label, others", [
    (NFC, [None, NFD, NFC + b" ", NFC[:-2], b"CAF\xc3\x89"]), (b"", [b"a", b"\x01"]), (b"x" * 255, [b"x" * 254, None]),
], ids=["some", "none", "long"])
def test_another_label_is_refused_in_every_mode(batch, key, work, suite, label, others):
    """From every kind of input, and no file changes."""
    data = sf.seal(PLAIN, [KEY], suite=suite, label=label)
    for wrong in others:
        assert open_independently(data, key=KEY, label=wrong or b"") == (4, b"")
    pathlib.Path("sealed").write_bytes(data)
    pathlib.Path("old").write_bytes(b"old")
    rekey = f"--rekey --new-key {secret_file(work.parent / 'new', OTHER_KEY)}"
    modes = ["-d", "--test", "--salvage", "--salvage --test", "--range 0:1", "--range 20000:", rekey]
    outputs = [[], ["-o", str(work / "out")], ["-o", str(work / "old")]]
    rows = itertools.product(thinned(others, 2), modes, ["pipe", "file", "-i"], outputs)
    for run, (wrong, mode, source, out) in each_way(batch, rows):
        if "--range" in mode and source == "pipe" or "--test" in mode and out or mode == rekey and wrong != others[0]:
            continue
        options = ["-q", *mode.split(), "-k", key, *with_label(wrong), *out]
        options, how = (([*options, "-i", str(work / "sealed")], {}) if source == "-i"
                        else (options, {"input": data, "via": source}))
        found = (stream if mode == rekey else run)(*options, status=4, **how)
        assert found.out == b"" and found.error.removeprefix(f"{work}/sealed: ") == ERROR
        assert found.hint == (HEADER_HINT if "salvage" in mode else HINT)
        assert files_here() == ["old", "sealed"] and not unfinished_files()
        assert (pathlib.Path("old").read_bytes(), pathlib.Path("sealed").read_bytes()) == (b"old", data)


def test_the_right_label_opens_in_every_mode(key):
    data, right = sf.seal(PLAIN, [KEY], label=NFC), ["-q", "-k", key, *with_label(NFC)]
    assert stream("--test", *right, input=data).out == b""
    expect_same(PLAIN, stream("--salvage", *right, input=data).out)
    assert stream("--range", "20000:100", *right, input=data, via="file").out == PLAIN[20000:20100]
    salvaged = stream("--salvage", *right, input=flipped(data, HEADER + 5), status=4)
    expect_same(bytes(SEGMENT) + PLAIN[SEGMENT:], salvaged.out)
    assert salvaged.error == "the input is corrupt; 16384 bytes of plaintext in 1 range are lost"
    expect_damage(stream, key, flipped(data, HEADER + SEALED + 5), 1, PLAIN, *with_label(NFC))


@pytest.mark.parametrize("suite", [1, 2])
def test_rekey_keeps_the_label(key, suite):
    data = sf.seal(PLAIN, [KEY], suite=suite, label=NFC)
    pathlib.Path("sealed").write_bytes(data)
    rekey = ["-q", "--rekey", "-k", key, *with_label(NFC), "--new-key", secret_file("new", OTHER_KEY)]
    assert stream(*rekey, "-i", "sealed").out == b""
    for after in pathlib.Path("sealed").read_bytes(), stream(*rekey, input=data).out:
        expect_same(data[HEADER - 56 :], after[HEADER - 56 :], "bytes after the header's MAC")
        expect_same(PLAIN, sf.open_sealed(after, key=OTHER_KEY, label=NFC))
        expect_same(PLAIN, stream("-q", "-d", "-k", "new", *with_label(NFC), input=after).out)
        assert stream("-q", "-d", "-k", "new", input=after, status=4).out == b""


def test_an_age_file_does_not_open_with_a_label():
    """Otherwise an old age file could replace a labeled one."""
    identity = secret_file("identity", age.identity_text().encode())
    for mode in "-d", "--test", "--salvage", "--range=0:1":
        for data in age.seal(PLAIN), age.seal(b""):
            options = [mode, "-k", identity, "--label", "label"]
            assert stream("-q", *options, input=data, via="file", status=4).out == b""
