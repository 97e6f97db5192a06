#!/usr/bin/env bash
# A header that violates the format is refused before it is used: with status 1 if a later version may allow it, with 4
# if it can never be valid, even with a correct header MAC.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

plain = make_input(20000)
file_key = os.urandom(32)
own = sf.key_slot(file_key, KEY)
passphrase_slot = sf.passphrase_slot(file_key, b"correct horse", 10)
secret_file("passphrase", b"correct horse")


def refused(want, what, slots=None, secret=("-k", key), **fields):
    data = sf.seal(plain, slots=[own] if slots is None else slots, file_key=file_key, **fields)
    named = {"key": KEY} if secret[0] == "-k" else {"passphrase": b"correct horse"}
    expect_equal((want, b""), open_independently(data, **named), f"{what}: independent reader")
    expect_refused(want, data, *secret, *QUICK, what=what)


def slot(kind, size):
    return kind, bytes(i & 255 for i in range(size))


for suite in thinned([0, *range(5, 16), *range(16, 256, 7), 129, 255]):
    refused(1, f"suite {suite}", suite=suite)
for version in (b"2\n", b"9\n", b"0\n", b"10", b"12", b"99"):
    refused(1, f"magic with {version!r}", magic=b"gpuaes-stream/" + version)
for magic in (b"gpuaes-stream/x\n", b"gpuaes-stream/\n\n", b"gpuaes-stream/1\r", b"gpuaes-stream/1 ", b"GPUAES-STREAM/1\n"):
    refused(4, f"magic {magic!r}", magic=magic)
for kind in thinned([0, 0x80, 0x81, 0x82, 0x83, *range(0x84, 0x100, 5), 0xFF]):
    refused(1, f"slot type {kind:02x}", [own, slot(kind, 64)])
refused(1, "slot type 00 alone", [slot(0, 64)])
refused(1, "slot type 80 of no bytes", [slot(0x80, 0), own])

# Wrong sizes of slots of known types, along with a slot that would open.
for kind, right in sf.BODY_SIZES.items():
    for size in (0, 1, right - 1, right + 1, 2 * right, 64, 67, 80, 255, 256 + right):
        if size != right:
            refused(4, f"slot {kind} of {size} bytes", [own, slot(kind, size)])
            refused(4, f"slot {kind} of {size} bytes, first", [slot(kind, size), own])

# Number and size of the slots.
for count in (0, 2, 3, 32, 33, 64, 255):
    refused(4, f"count {count} with one slot", count=count)
refused(4, "count 1 with two slots", [own, own], count=1)
refused(4, "33 slots", [own] * 33)
refused(4, "255 slots", [slot(5, 0)] * 254 + [own])
refused(4, "no slots", [])
for size in (0, 1, 2, 3, 66, 68, 69, 70, 134, 300, 65535):
    refused(4, f"size of slots {size}", size=size)
refused(4, "size of slots too small by one slot", [own, own], size=67)
refused(4, "a slot that exceeds the size of slots", [own, slot(5, 100)], size=67 + 50)

# Slots that must not be combined with a passphrase, whichever secret is given.
for secret in (("-k", key), ("--passphrase-file", "passphrase")):
    refused(4, "two passphrases", [own, passphrase_slot, passphrase_slot], secret)
    for kind, size in ((3, 80), (4, 1168)):
        refused(4, f"a passphrase along with a public key, type {kind}", [own, passphrase_slot, slot(kind, size)], secret)

# A header that ends after the magic of another version, and wrong header MACs.
expect_refused(1, b"gpuaes-stream/2\n", what="another version's magic alone")
for mac in (bytes(32), sf.header_mac(KEY, b""), sf.header_mac(file_key, sf.MAGIC)):
    refused(4, "another header MAC", mac=mac)
PYTHON
