"""Without a key, --info reports format, cipher, slots, parts, sizes and overhead, as text and as JSON, for each format.
It also reports that a size is unknown, or that the file is truncated, whatever numbers are in it."""

import json
import pathlib

import pytest

from damage import HEADER, SEALED, SEGMENT
from programs import KEY, some_bytes, spread, stream

pytest.importorskip("cryptography")
import parts_format as pf  # noqa: E402
import age_format as age  # noqa: E402
import sealed_format as sf  # noqa: E402

HEAD = 119  # bytes before the first part, with one key slot
KEY_SLOT = {"type": 1, "kind": "key file"}
UNKNOWN = dict.fromkeys("size parts segments plaintext_bytes index_offset overhead_bytes overhead_percent "
                        "truncated".split())
SEALED_1 = {"format": "sealed", "version": 1, "suite": 1, "cipher": "aes-256", "authenticated": True, "armor": False,
            "slots": [KEY_SLOT], "segment_bytes": SEGMENT, "tag_bytes": 16}
SEALED_2 = {**SEALED_1, "suite": 2, "cipher": "kuznyechik"}
BARE = {**SEALED_1, "format": "cobblestone", "version": None, "suite": None, "cipher": None, "slots": []}
OPENSSL = {**BARE, "format": "openssl", "authenticated": False, "segment_bytes": None, "tag_bytes": None}
RAW = {**OPENSSL, "format": "raw"}
AGE = {**SEALED_1, "format": "age", "suite": None, "cipher": "chacha20-poly1305",
       "slots": [{"type": None, "kind": "X25519"}], "segment_bytes": 65536}
FILE_KEY = bytes(32)
LATER = (0x7F, b"content of some later version")


def info(data, *options, via="file"):
    result = stream("-q", "--info", *options, input=data, via=via)
    assert result.err == ""
    return result.out.decode()


def facts(data, *options, via="file"):
    return json.loads(info(data, "--json", *options, via=via))


def sizes(header, size, plain, segments):
    percent = round(100 * (size - plain) / plain, 4) if plain else None
    return {"header_bytes": header, "size": size, "parts": None, "segments": segments, "plaintext_bytes": plain,
            "index_offset": None, "overhead_bytes": size - plain, "overhead_percent": percent, "truncated": False}


@pytest.mark.parametrize("size", [0, 1, 15, 16, SEGMENT - 1, SEGMENT, SEGMENT + 1, 5 * SEGMENT, 100000])
def test_sizes_in_each_format(size):
    plain, segments = some_bytes(size), size // SEGMENT + 1
    for suite, known in ((1, SEALED_1), (2, SEALED_2)) if size < SEGMENT + 2 else ((1, SEALED_1),):
        sealed = sf.seal(plain, [KEY], suite=suite)
        assert facts(sealed) == {**known, **sizes(HEADER, len(sealed), size, segments)}
        assert facts(sealed, via="pipe") == {**known, "header_bytes": HEADER, **UNKNOWN}
    bare = sf.message(KEY, b"", plain)
    assert facts(bare, "-f", "cobblestone") == {**BARE, **sizes(56, len(bare), size, segments)}
    openssl = b"Salted__12345678" + plain
    assert facts(openssl) == {**OPENSSL, **sizes(16, len(openssl), size, None)}
    assert facts(openssl, via="pipe") == {**OPENSSL, "header_bytes": 16, **UNKNOWN}
    assert facts(plain, "-f", "raw") == {**RAW, **sizes(0, size, size, None)}


def test_slots_and_text():
    slot, words = sf.key_slot(FILE_KEY, KEY), sf.passphrase_slot(FILE_KEY, b"words", 10)
    known = {"type": 2, "kind": "passphrase", "scrypt": {"log2_n": 10, "r": 8, "p": 1}}
    others = [{"type": 3, "kind": "X25519 recipient"}, KEY_SLOT, {"type": 0x7F, "kind": "unknown type 7f"}]
    for slots, kinds in (([words, slot], [known, KEY_SLOT]), ([slot] * 32, [KEY_SLOT] * 32),
                         ([(3, bytes(80)), slot, LATER], others)):
        data = sf.seal(b"abc", file_key=FILE_KEY, slots=slots)
        assert (facts(data)["slots"], facts(data)["header_bytes"]) == (kinds, len(data) - 19)
    data = sf.seal(some_bytes(100000), file_key=FILE_KEY, slots=[slot, words, LATER])
    assert info(data) == """format         sealed, version 1
suite          01
cipher         aes-256
authenticated  yes
slot 1         key file
slot 2         passphrase, scrypt with N = 2^10, r = 8, p = 1
slot 3         unknown type 7f
header         277 bytes
size           100389 bytes
segments       7
plaintext      100000 bytes
overhead       389 bytes, 0.39 %
"""
    assert info(b"Salted__12345678", via="pipe") == """format         openssl
cipher         not stated in the input
authenticated  no
header         16 bytes
size           unknown; the input is not a file
"""


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 131072])
def test_sizes_of_age_files(size):
    data = age.seal(some_bytes(size))
    header = data.index(b"\n--- ") + 5 + 44 + 16  # to the end of the nonce
    assert facts(data) == {**AGE, **sizes(header, len(data), size, max(1, -(-size // 65536)))}
    assert facts(data, via="pipe") == {**AGE, "header_bytes": header, **UNKNOWN}
    # Cut in a tag, or where a second segment would be empty.
    assert facts(data[:-1], "-f", "age")["truncated"] == (size in (0, 65537))
    assert facts(data[: header + 15])["truncated"]


@pytest.mark.parametrize("size, truncated", [
    (HEADER, True), (HEADER + 15, True), (HEADER + 16, False), (HEADER + 2 * SEALED, True),
    (HEADER + 2 * SEALED + 15, True), (HEADER + 2 * SEALED + 16, False)])
def test_truncation_is_reported_if_the_size_shows_it(size, truncated):
    data = sf.seal(some_bytes(3 * SEGMENT + 50), [KEY])[:size]
    known = facts(data)
    plain = None if truncated else (size - HEADER) // SEALED * SEGMENT
    assert (known["truncated"], known["plaintext_bytes"]) == (truncated, plain)
    assert ("truncated" in info(data)) == truncated


# --- Files made of parts -------------------------------------------------------------------------------------------


def figures(known):
    """What --info --json reports about the parts of a file."""
    assert [known[name] for name in ("format", "version", "header_bytes", "armor")] == ["sealed", 1, HEAD, False]
    return tuple(known[name] for name in ("parts", "segments", "plaintext_bytes", "overhead_bytes", "truncated"))


@pytest.mark.parametrize("suite, lengths", [
    *((suite, lengths) for suite in (pf.AES, pf.KUZNYECHIK)
      for lengths in ([0], [1], [16383], [16384], [0, 0, 0], [16385, 0, 40000, 5])),
    (pf.AES, [3] * 500)])
def test_parts(suite, lengths):
    job = pf.new_job(suite, keys=[KEY])
    data, plain = pf.join(job, pf.seal_parts(job, [some_bytes(length) for length in lengths])), sum(lengths)
    segments = sum(length // SEGMENT + 1 for length in lengths)
    known = facts(data)
    assert figures(known) == (len(lengths), segments, plain, len(data) - plain, False)
    assert data[known["index_offset"]] == 2 and known["index_offset"] + 73 + 8 < len(data)
    assert figures(facts(data, via="pipe")) == (None,) * 5


def three_parts():
    """A file made of three parts, and where each part and the index begins."""
    job = pf.new_job(keys=[KEY])
    sealed = pf.seal_parts(job, [some_bytes(16384), b"", some_bytes(100)], 3)
    return pf.join(job, sealed), [HEAD + len(b"".join(sealed[:i])) for i in range(4)]


def test_text_of_parts():
    whole, begins = three_parts()
    assert "\nparts          3\nsegments       4\nplaintext      16484 bytes\n" in info(whole)
    last_line = info(whole[: begins[1] + 10]).splitlines()[-1]
    assert last_line == "parts          1, and the rest is missing: the input is truncated or damaged"
    for name, data in ("WHOLE", whole), ("CUT", whole[:-1]):
        pathlib.Path(name).write_bytes(data)
    assert stream("-q", "--info", "WHOLE", "CUT").out.decode().splitlines() == [
        "WHOLE: sealed, version 1, aes-256, 1 slot, 3 parts, 16484 bytes of plaintext",
        "CUT: sealed, version 1, aes-256, 1 slot, truncated"]


def expect_truncated(cases):
    """Each changed file is reported as truncated, after that number of parts; None for any number."""
    for i, (data, _) in enumerate(cases):
        pathlib.Path(f"{i}").write_bytes(data)
    lines = stream("-q", "--info", "--json", *map(str, range(len(cases)))).out.splitlines()
    for line, (_, count) in zip(lines, cases, strict=True):
        found, _, *others = figures(json.loads(line))
        assert count in (None, found) and others == [None, None, True]
    for i in spread(range(len(cases))):
        known = json.loads(lines[i])
        assert known.pop("file") == str(i) and known == facts(cases[i][0])


def test_parts_that_do_not_add_up_to_the_file():
    whole, begins = three_parts()
    ends = [*range(HEAD, HEAD + 100, 3), *range(begins[1] - 20, len(whole), 4), len(whole) - 1]
    expect_truncated([(whole[:end], sum(end >= begin for begin in begins[1:])) for end in ends])
    assert facts(whole + b"\0")["truncated"]

    def changed(at, number, size):
        return whole[:at] + number.to_bytes(size, "big") + whole[at + size :]

    fields = ((0, 1, (0, 3, 255)), (1, 4, (7, 2**20, 2**32 - 1)), (5, 4, (1, 4, 2**20 + 1, 2**32 - 1)),
              (9, 8, (1, 16385, 2**52 - 1, 2**52, 2**63, 2**64 - 16, 2**64 - 1)))  # kind, number, of, length
    expect_truncated([(changed(begin + at, number, size), None) for at, size, numbers in fields
                      for begin in begins for number in numbers])
    ends = (0, 1, 2, 4, 2**20, 2**20 + 1, 2**64 - 1)
    expect_truncated([(changed(len(whole) - 8, number, 8), 3) for number in ends])
