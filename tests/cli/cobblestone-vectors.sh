#!/usr/bin/env bash
# The published vectors of C2SP chunked encryption, Cobblestone-256, through the filter on every lane. Where a vector is
# not valid, what may come out is the valid beginning that it describes (PartialPlaintext), all of it and no more.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_cryptography
[ -n "${GPUAES_VECTORS:-}" ] || skip "GPUAES_VECTORS does not say where the vectors are"
[ -e "$GPUAES_VECTORS/c2sp_chunked_encryption_aes_256_gcm_test.json" ] ||
  skip "no c2sp_chunked_encryption_aes_256_gcm_test.json in $GPUAES_VECTORS"

LANES=$(lanes_here) python <<'PYTHON'
import hashlib
import json
import zlib

from sealed_harness import *

with open(os.environ["GPUAES_VECTORS"] + "/c2sp_chunked_encryption_aes_256_gcm_test.json") as f:
    suite = json.load(f)
tests = [t for group in suite["testGroups"] for t in group["tests"]]
expect_equal(35, len(tests), "number of vectors")


def status(t):
    if t["result"] == "valid":
        return 0
    if "InvalidKeySize" in t["flags"]:
        return 2
    return 3 if "HeaderFailure" in t["flags"] and "Truncation" not in t["flags"] else 4


counts = collections.Counter()
for lanes in LANES:
    for t in tests:
        for chunk, via in (("16K", "file"), (None, "pipe")):
            if slow and chunk:
                continue
            secret_file("key", bytes.fromhex(t["key"]))
            options = ["-d", "-f", "cobblestone", "-k", "key", "-l", lanes] + (["-b", chunk] if chunk else [])
            if t["ctx"]:
                options += ["--context", t["ctx"]]
            what = f"vector {t['tcId']}, {t['comment']} ({' '.join(options)}, {via})"
            got = run(*options, data=zlib.decompress(bytes.fromhex(t["ct"])), via=via)
            expect_equal(status(t), got.code, f"{what}: exit status")
            expect_equal(t.get("msgLength", 0), len(got.out), f"{what}: bytes of plaintext")
            if got.out:
                expect_equal(t["msgSha512"], hashlib.sha512(got.out).hexdigest(), f"{what}: SHA-512 of the plaintext")
        counts[lanes] += 1
    print(f"{counts[lanes]} vectors on {lanes}")
PYTHON
