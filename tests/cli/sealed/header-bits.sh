#!/usr/bin/env bash
# A flipped bit in any byte of the header is detected before any output. The exit status depends on the field.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

plain = make_input(20000)
salt = os.urandom(24)


def field(name, size):
    """The name and the range of bytes of the next field."""
    global at
    at += size
    return name, range(at - size, at)


PARTS = 3, 4  # suites that the independent reader of this test does not know


def statuses(name, byte, flipped):
    """The exit status for a changed byte in a field."""
    if name == "version":
        return 1 if chr(flipped).isdigit() else 4
    if name == "suite":
        return 4 if flipped in PARTS else 1
    if name == "type":
        return 1 if flipped == 0 or flipped >= 0x80 else 4 if flipped in (2, 3) else 3
    if name == "type of the other slot":  # the header is not authentic, or malformed
        return 1 if flipped == 0 or flipped >= 0x80 else 4
    if name == "slot":
        return 3
    if name == "log2 N":
        return 3 if 10 <= flipped <= 20 else 4
    return 4


def flip_all(sealed, fields, *secret, **named):
    for name, places in fields:
        # All bits of short fields, and one bit of each byte of others.
        bits = [(i, b) for i in places for b in range(8)] if len(places) <= 4 else [(i, (3 * i) % 8) for i in places]
        for i, bit in thinned(bits, 6):
            changed = flip(sealed, i, bit)
            want = statuses(name, sealed[i], changed[i])
            what = f"bit {bit} of byte {i}, {name}"
            if name != "suite" or changed[i] not in PARTS:
                expect_equal((want, b""), open_independently(changed, **named), f"{what}: independent reader")
            expect_refused(want, changed, *secret, *QUICK, what=what)


start = [("magic", 14), ("version", 1), ("newline", 1), ("suite", 1), ("count", 1), ("size", 2)]
end = [("MAC", 32), ("salt", 24), ("commitment", 32)]
at = 0
fields = [field(*f) for f in [*start, ("type", 1), ("length", 2), ("slot", 64), *end]]
expect_equal(HEADER, at, "bytes of the header")
flip_all(sf.seal(plain, [KEY]), fields, key=KEY)

# The header MAC also covers slots for other keys.
at = 0
slots = [("type of the other slot", 1), ("length", 2), ("other slot", 64), ("type", 1), ("length", 2), ("slot", 64)]
two = [field(*f) for f in [*start, *slots]][len(start) : len(start) + 3]
flip_all(sf.seal(plain, [OTHER_KEY, KEY]), two, key=KEY)

at = 0
scrypt = [("log2 N", 1), ("r", 1), ("p", 1)]
fields = [field(*f) for f in [*start, ("type", 1), ("length", 2), *scrypt, ("slot", 64)]][len(start) :]
secret_file("passphrase", b"correct horse")
sealed = sf.seal(plain, passphrase=b"correct horse", log_n=10)
fields = [f for f in fields if f[0] not in ("type", "length")]
flip_all(sealed, fields, "--passphrase-file", "passphrase", passphrase=b"correct horse")
PYTHON
