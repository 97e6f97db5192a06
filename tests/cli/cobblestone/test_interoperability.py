"""Each lane opens bare messages of an independent implementation and vice versa, and produces the published results for
the C2SP test vectors."""

import base64
import collections
import hashlib
import itertools
import pathlib
import zlib

import pytest

from programs import KEY, SANITIZED, each_way, expect_same, lanes, secret_file, some_bytes, stream

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402

VECTORS = pathlib.Path(__file__).parents[2] / "vectors"


def each_lane(batch, cases):
    cases = list(cases)
    for lane in lanes():
        for way, case in each_way(batch, cases):
            yield (stream if lane.startswith("cuda") else way), lane, case


@pytest.mark.parametrize("size", [16, 32])
def test_both_open_what_the_other_sealed(batch, key, size):
    secret_file(key, KEY[:size])
    sizes = (0, 1, 15, 16, 17, 16383, 16384, 16385, 32768, 100000)
    contexts = (b"\0", b"gpuaes-stream/1\n\x01", bytes(range(256)) * 4)
    cases = [(b"", length) for length in sizes] + list(itertools.product(contexts, (0, 16384, 100000)))
    for way, lane, (context, length) in each_lane(batch, cases[::3] if SANITIZED else cases):
        options = ["-q", "-f", "cobblestone", "-k", key, "-l", lane, "-b", "32K"]
        if context:
            options += ["--context", context.hex().upper() if length else context.hex()]
        plain = some_bytes(length)
        sealed = way(*options, input=plain, via="file").out
        assert len(sealed) == 56 + length + 16 * (length // 16384 + 1)
        assert sf.open_message(KEY[:size], context, sealed) == plain
        for message in (sealed, sf.message(KEY[:size], context, plain)):
            expect_same(plain, way("-d", *options, input=message).out)


@pytest.mark.parametrize("bits", [128, 256])
def test_published_vectors(batch, key, bits):
    """The output for an invalid vector is the prefix that it specifies."""
    Vector = collections.namedtuple("Vector", "number result flags key context size sha512 message comment")
    text = (VECTORS / f"c2sp_cobblestone_{bits}.txt").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    vectors = [Vector(*line.split(" ", 8)) for line in lines]
    assert collections.Counter(v.result for v in vectors) == {"valid": 10, "invalid": 25}
    ways = [("file", ["-b", "16K"]), ("pipe", [])]
    for way, lane, (v, (via, options)) in each_lane(batch, itertools.product(vectors, ways[SANITIZED:])):
        status = 0 if v.result == "valid" else 4
        if "HeaderFailure" in v.flags and "Truncation" not in v.flags:
            status = 2 if "InvalidKeySize" in v.flags else 3
        secret_file(key, bytes.fromhex(v.key))
        context = [] if v.context == "-" else ["--context", v.context]
        message = zlib.decompress(base64.b64decode(v.message))
        got = way("-q", "-d", "-f", "cobblestone", "-k", key, "-l", lane, *options, *context, input=message, via=via,
                  status=status)
        assert len(got.out) == int(v.size), v
        assert not got.out or hashlib.sha512(got.out).hexdigest() == v.sha512, v
