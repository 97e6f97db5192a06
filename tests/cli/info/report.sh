#!/usr/bin/env bash
# Without a key, --info reports format, cipher, slots, sizes and overhead, as text and as JSON, for each format. It also
# reports that a size is unknown or that the stream is truncated.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
import json

from sealed_harness import *


def facts(*options, **more):
    what = f"--info {options}"
    return json.loads(run_info("--json", *options, what=what, **more))


def run_info(*options, want=0, **more):
    result = run("--info", *options, data=more["data"], via=more.get("via", "file"))
    expect_equal(want, result.code, f"{options}, exit status (stderr: {result.err.decode()})")
    expect_equal(want == 0, not result.err, f"{options}, stderr {result.err}")
    return result.out.decode()


def overhead(head, size, plain):
    return {"header_bytes": head, "size": size, "parts": None, "plaintext_bytes": plain, "overhead_bytes": size - plain,
            "overhead_percent": round(100 * (size - plain) / plain, 4) if plain else None, "truncated": False}


NOTHING = {"size": None, "parts": None, "segments": None, "plaintext_bytes": None, "overhead_bytes": None,
           "overhead_percent": None, "truncated": None}
SEALED_1 = {"format": "sealed", "version": 1, "suite": 1, "cipher": "aes-256", "authenticated": True, "armor": False}
SEALED_2 = {**SEALED_1, "suite": 2, "cipher": "kuznyechik"}
BARE = {**SEALED_1, "format": "cobblestone", "version": None, "suite": None, "cipher": None, "slots": []}
OPENSSL = {**BARE, "format": "openssl", "authenticated": False}
RAW = {**OPENSSL, "format": "raw"}
KEY_SLOT = {"type": 1, "kind": "key file"}
WORDS = {"type": 2, "kind": "passphrase", "scrypt": {"log2_n": 10, "r": 8, "p": 1}}

# Sizes around every boundary.
for size in (0, 1, 15, 16, SEGMENT - 1, SEGMENT, SEGMENT + 1, 5 * SEGMENT, 100000):
    plain = make_input(size)
    for suite, known in ((1, SEALED_1), (2, SEALED_2)) if size < SEGMENT + 2 else ((1, SEALED_1),):
        sealed = sf.seal(plain, [KEY], suite=suite)
        expect_equal({**known, "slots": [KEY_SLOT], "segments": size // SEGMENT + 1, **overhead(HEADER, len(sealed), size)},
                     facts(data=sealed), f"sealed, {size} bytes")
        expect_equal({**known, "slots": [KEY_SLOT], "header_bytes": HEADER, **NOTHING},
                     facts(data=sealed, via="pipe"), f"sealed, {size} bytes from a pipe")
    bare = sf.message(KEY, b"", plain)
    expect_equal({**BARE, "segments": size // SEGMENT + 1, **overhead(56, len(bare), size)},
                 facts("-f", "cobblestone", data=bare), f"cobblestone, {size} bytes")
    openssl = b"Salted__12345678" + plain
    expect_equal({**OPENSSL, "segments": None, **overhead(16, len(openssl), size)}, facts(data=openssl), "openssl")
    expect_equal({**OPENSSL, "header_bytes": 16, **NOTHING}, facts(data=openssl, via="pipe"), "openssl from a pipe")
    expect_equal({**RAW, "segments": None, **overhead(0, size, size)}, facts("-f", "raw", data=plain), "raw")

# Slots of all kinds, up to the maximum number.
file_key = bytes(32)
slot = sf.key_slot(file_key, KEY)
words = sf.passphrase_slot(file_key, b"words", 10)
later = (0x7F, b"content of some later version")
x25519 = (3, bytes(80))
for slots, kinds in (([words, slot], [WORDS, KEY_SLOT]), ([slot] * 32, [KEY_SLOT] * 32),
                     ([x25519, slot, later], [{"type": 3, "kind": "X25519 recipient"}, KEY_SLOT,
                                              {"type": 0x7F, "kind": "unknown type 7f"}])):
    data = sf.seal(b"abc", file_key=file_key, slots=slots)
    expect_equal(kinds, facts(data=data)["slots"], f"{len(slots)} slots")
    expect_equal(len(data) - 19, facts(data=data)["header_bytes"], f"{len(slots)} slots, header")

# Text.
data = sf.seal(make_input(100000), file_key=file_key, slots=[slot, words, later])
expect_equal("""format         sealed, version 1
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
""", run_info(data=data), "text")
expect_equal("""format         openssl
cipher         not stated in the input
authenticated  no
header         16 bytes
size           unknown; the input is not a file
""", run_info(data=b"Salted__12345678", via="pipe"), "text of a pipe")

# Truncation, if the size shows it.
sealed = sf.seal(make_input(3 * SEGMENT + 50), [KEY])
for cut, truncated in ((HEADER, True), (HEADER + 15, True), (HEADER + 16, False), (HEADER + 2 * SEALED, True),
                       (HEADER + 2 * SEALED + 15, True), (HEADER + 2 * SEALED + 16, False)):
    got = facts(data=sealed[:cut])
    expect_equal((truncated, None if truncated else (cut - HEADER) // SEALED * SEGMENT),
                 (got["truncated"], got["plaintext_bytes"]), f"truncated to {cut} bytes")
    expect_equal(truncated, "truncated" in run_info(data=sealed[:cut]), f"truncated to {cut} bytes, text")
PYTHON
