#!/usr/bin/env bash
# An independent implementation of the sealed format opens the output of each lane with Kuznyechik, and vice versa.
# Decryption detects the cipher, and -c does not accept another one.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from sealed_harness import *

salts = []
for k, lane in enumerate(LANES):
    for size in thinned([0, 1, 15, 16, 17, 511, 513, 4099, 16383, 16384, 16385, 32768, 50001], 3, lane, k):
        for chunk in ("16K", "64K"):
            options = ["-l", lane, "-b", chunk]
            plain, what = make_input(size), f"{size} bytes, {options}"
            sealed = run("-k", key, "-c", "kuznyechik", *options, data=plain, via="file")
            expect_equal(0, sealed.code, f"{what}: exit status to seal")
            expect_equal(b"gpuaes-stream/1\n\x02\x01\x00\x43\x01\x00\x40", sealed.out[:23], f"{what}: first bytes")
            expect_equal(size + HEADER + 16 * (size // SEGMENT + 1), len(sealed.out), f"{what}: bytes")
            code, opened = open_independently(sealed.out)
            expect_equal(0, code, f"{what}, sealed by the program: status of the independent implementation")
            expect_same(plain, opened, f"{what}, sealed by the program")
            salts += [sealed.out[23:39], sealed.out[119:143]]
            expect_open(sf.seal(plain, [KEY], suite=2), plain, *options, what=f"{what}, sealed independently")
expect_equal(len(salts), len(set(salts)), "number of different salts")

plain = make_input(20000)
suites = {"aes-256": sf.seal(plain, [KEY]), "kuznyechik": sf.seal(plain, [KEY], suite=2)}
for made, sealed in suites.items():
    for named in suites:
        options = ["-c", named, "-k", key]
        if named == made:
            expect_open(sealed, plain, *options, what=f"{named} named")
        else:
            expect_message(expect_refused(2, sealed, *options, what=f"{named} named"), made, f"{named} named")
expect_open(sf.seal(plain, passphrase=b"words", log_n=10, suite=2), plain, "--passphrase-file",
            secret_file("words", b"words"), what="with a passphrase")
PYTHON
