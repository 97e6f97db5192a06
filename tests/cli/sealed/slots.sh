#!/usr/bin/env bash
# Slots are tried in order until one opens; slots of unknown types, for other secrets, damaged or from other files are
# skipped. If none opens, the exit status is 3, or 4 if one unwraps but does not fit the header.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

plain = make_input(20000)
file_key, foreign_key = os.urandom(32), os.urandom(32)
own = sf.key_slot(file_key, KEY)
others = sf.key_slot(file_key, OTHER_KEY)
foreign = sf.key_slot(foreign_key, KEY)
damaged = (own[0], flip(own[1], 40))
passphrase = sf.passphrase_slot(file_key, b"correct horse", 10)
foreign_passphrase = sf.passphrase_slot(foreign_key, b"correct horse", 10)
secret_file("passphrase", b"correct horse")


def seal(slots, **fields):
    return sf.seal(plain, slots=slots, file_key=file_key, **fields)


def opens(what, slots, *secret):
    expect_open(seal(slots), plain, *secret, *QUICK, what=what)


def refused(want, what, data, *secret):
    named = {"passphrase": b"correct horse"} if secret else {"key": KEY}
    expect_equal((want, b""), open_independently(data, **named), f"{what}: independent reader")
    expect_refused(want, data, *secret, *QUICK, what=what)


# All unknown types, 31 in each file.
unknown = [(kind, bytes(7 * kind)) for kind in range(5, 0x80)]
for i in range(0, len(unknown), 31):
    some = unknown[i : i + 31]
    opens(f"{len(some)} slots of types from {some[0][0]:02x} first", [*some, own])
    opens(f"{len(some)} slots of types from {some[0][0]:02x} last", [own, *some])
    refused(3, "only unknown slots", seal(some))
for size in (0, 1, 65535 - 3 - 67):
    opens(f"an unknown slot of {size} bytes", [(0x7F, bytes(size)), own])

opens("slots of public keys", [(3, bytes(80)), (4, bytes(1168)), own])
opens("several slots of one key", [own, own])
opens("another's slot", [others, own])
opens("a damaged slot", [damaged, own])
opens("a foreign slot", [foreign, own])
opens("a foreign slot last", [own, foreign])
opens("many slots", [foreign, damaged, others, (0x7F, b"")] * 7 + [own])
opens("a passphrase's slot", [passphrase, own])
opens("a key's slot", [own, foreign, passphrase], "--passphrase-file", "passphrase")
opens("a foreign slot of a key", [foreign, passphrase], "-k", key, "--passphrase-file", "passphrase")

refused(3, "a damaged slot alone", seal([damaged]))
refused(3, "another's slot alone", seal([others]))
refused(3, "damaged and other slots", seal([damaged, others, (5, b"")]))
refused(4, "a foreign slot alone", seal([foreign]))
refused(4, "foreign and damaged slots", seal([damaged, foreign, others]))
refused(4, "a foreign slot of a passphrase", seal([foreign_passphrase, own]), "--passphrase-file", "passphrase")

# Slots inserted, removed or changed without the file key: the header MAC is the old one.
mac = sf.header(file_key, [own, others])[-32:]
for what, slots in {
    "a foreign slot inserted": [own, others, foreign],
    "a foreign slot inserted first": [foreign, own, others],
    "another's slot replaced": [own, foreign],
    "another's slot removed": [own],
    "slots exchanged": [others, own],
    "another's slot damaged": [own, (others[0], flip(others[1], 63))],
    "another's slot of an unknown kind": [own, (5, others[1])],
    "a slot repeated": [own, own],
    "an empty slot inserted": [own, others, (5, b"")],
}.items():
    refused(4, what, seal(slots, mac=mac))
expect_open(seal([own, others], mac=mac), plain, what="unchanged")

# The header of another file with the same key before this file's message: the commitment differs.
bare = seal([own])[20 + 67 + 32 :]
refused(4, "another file's header", sf.header(foreign_key, [foreign]) + bare)
PYTHON
