#!/usr/bin/env bash
# Every lane produces the published results for the C2SP test vectors of Cobblestone-256. For an invalid vector the
# output is exactly the valid prefix that the vector specifies (PartialPlaintext).
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) VECTORS=$top/tests/vectors/c2sp_cobblestone_256.txt python <<'PYTHON'
import base64
import hashlib
import zlib

from sealed_harness import *

Vector = collections.namedtuple("Vector", "number result flags key context size sha512 message comment")
with open(os.environ["VECTORS"]) as f:
    vectors = [Vector(*line.rstrip("\n").split(" ", 8)) for line in f if not line.startswith("#")]
results = collections.Counter(v.result for v in vectors)
expect_equal({"valid": 10, "invalid": 25}, dict(results), "numbers of vectors")


def status(v):
    if v.result == "valid":
        return 0
    if "InvalidKeySize" in v.flags:
        return 2
    return 3 if "HeaderFailure" in v.flags and "Truncation" not in v.flags else 4


for lanes in LANES:
    for v in vectors:
        for chunk, via in (("16K", "file"), (None, "pipe")):
            if slow and chunk:
                continue
            secret_file("key", bytes.fromhex(v.key))
            options = ["-d", "-f", "cobblestone", "-k", "key", "-l", lanes] + (["-b", chunk] if chunk else [])
            if v.context != "-":
                options += ["--context", v.context]
            what = f"vector {v.number}, {v.comment} ({' '.join(options)}, {via})"
            got = run(*options, data=zlib.decompress(base64.b64decode(v.message)), via=via)
            expect_equal(status(v), got.code, f"{what}: exit status")
            expect_equal(int(v.size), len(got.out), f"{what}: bytes of plaintext")
            if got.out:
                expect_equal(v.sha512, hashlib.sha512(got.out).hexdigest(), f"{what}: SHA-512 of the plaintext")
PYTHON
