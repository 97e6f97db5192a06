"""--range, --part and --rekey of age files."""

import os
import pathlib

import pytest

import age_format as age
import sealed_format as sf
from programs import expect_same, files_here, flipped, secret_file, some_bytes, stream

FILE_KEY, SALT = bytes(range(16)), bytes(range(50, 66))
HEAD = age.header(FILE_KEY, [age.x25519_stanza(FILE_KEY)]) + SALT
PLAIN = some_bytes(3 * 65536 + 1000)
WHOLE = HEAD + b"".join(age.segments(FILE_KEY, SALT, PLAIN))
OTHER = bytes(range(1, 33))
COPY = ("age requires a file key of its own for each file; replace the input with the output instead of keeping "
        "both")


def test_range_verifies_the_last_segment_first(identity):
    options = ["-q", "-k", identity, "--range"]
    for begin, length in (0, 10), (65530, 10), (65536, 65536), (3 * 65536 + 990, 10), (0, len(PLAIN)), (len(PLAIN), 0):
        expect_same(PLAIN[begin : begin + length],
                    stream(*options, f"{begin}:{length}", input=WHOLE, via="file").out, (begin, length))
    ends = [len(HEAD) + i * age.SEALED + more for i in range(3) for more in (0, 1, 16, 17, 1000)]
    for bad in (*(WHOLE[:end] for end in ends), WHOLE[:-1], WHOLE + b"x", WHOLE + bytes(age.SEALED),
                flipped(WHOLE, len(WHOLE) - 1)):
        for text in "0:10", "0:0":
            assert stream(*options, text, input=bad, via="file", status=4).out == b""
    damaged = flipped(WHOLE, len(HEAD) + age.SEALED + 5)
    expect_same(PLAIN[: 65536], stream(*options, "0:65536", input=damaged, via="file").out)
    expect_same(PLAIN[60000:65536], stream(*options, "60000:10000", input=damaged, via="file", status=4).out)


@pytest.mark.parametrize("of", [1, 3])
def test_shares_of_a_file(identity, of):
    pathlib.Path("file.age").write_bytes(WHOLE)
    for number in reversed(range(of)):
        assert not os.path.exists("out")
        stream("-d", "-k", identity, "--share", f"{number}/{of}", "--into", "out", "file.age")
    expect_same(PLAIN, pathlib.Path("out").read_bytes())
    assert stream("-d", "-k", identity, "--share", f"0/{of}", input=WHOLE[:-1], via="file", status=4).out == b""


@pytest.fixture
def rekey():
    """Rekeys the file `file`, of this content, and returns the result."""
    secret_file("../other", age.identity_text(OTHER).encode())
    secret_file("../words", b"words\n")

    def run(data, *options, **how):
        secret_file("file", data)
        return stream("--rekey", *options, "-i", "file", **how)
    return run


TO_OTHER = ["-r", age.recipient_text(sf.public_key(OTHER))]


def test_in_place(identity, rekey):
    for way in [], ["-o", "out"]:
        assert rekey(WHOLE, "-k", identity, *TO_OTHER, *way).warnings == ([COPY] if way else [])
        after = pathlib.Path(way[1] if way else "file").read_bytes()
        assert after.endswith(WHOLE[len(HEAD) - 16 :]) and len(after) == len(WHOLE)
        expect_same(PLAIN, age.open_age(after, OTHER))
        stream("-d", "-k", identity, input=after, status=3)
    old = age.seal(PLAIN, [age.scrypt_stanza(FILE_KEY, b"words")], FILE_KEY)
    rekey(old, "--passphrase-file", "../words", *TO_OTHER)
    expect_same(PLAIN, age.open_age(pathlib.Path("file").read_bytes(), OTHER))


def test_a_passphrase_can_replace_a_passphrase(rekey):
    old = age.seal(PLAIN, [age.scrypt_stanza(FILE_KEY, b"old words")], FILE_KEY)
    rekey(old, "--passphrase-file", secret_file("../old", b"old words\n"), "--new-passphrase-file", "../words")
    expect_same(PLAIN, stream("-d", "--passphrase-file", "../words", "file").out)
    stream("-d", "--passphrase-file", "../old", "file", status=3)


@pytest.mark.parametrize("new, status, error", [
    (["--new-passphrase-file", "../words"], 2, "the input was encrypted for recipients"),
    (["--new-passphrase-file", "../words", *TO_OTHER], 2, "a passphrase cannot be combined with recipients"),
    (["--new-key", "KEY"], 2, "the age format does not accept a key file"),
    (["-f", "sealed", *TO_OTHER], 4, "the input is in the age format"),
])  # fmt: skip
def test_refused(identity, key, rekey, new, status, error):
    got = rekey(WHOLE, "-k", identity, *(key if word == "KEY" else word for word in new), status=status)
    assert error in got.error and pathlib.Path("file").read_bytes() == WHOLE and files_here() == ["file"]
