"""Files with a header that readers must refuse."""

import sealed_format as sf
from common import (
    BY_KEY, BY_PASSPHRASE, BY_X25519, BY_XWING, DAMAGED, FILE_KEY, FOREIGN_KEY, OTHER_KEY, UNSUPPORTED, WRONG_SECRET, make,
    own_slot, passphrase_slot, unknown_slot, x25519_slot, xwing_slot)
from programs import flipped


def add_to(kit):
    add_unsupported(kit)
    add_malformed(kit)
    add_not_authentic(kit)
    add_two_defects(kit)


def add_unsupported(kit):
    def add(name, comment, data):
        kit.add(name, comment, data, 0, UNSUPPORTED, **BY_KEY)

    for suite in 0, 5, 0x7F, 0x80, 0xFF:
        add(f"suite_{suite:02x}", "an unknown suite", sf.header(FILE_KEY, [own_slot()], suite) + bytes(72))
    for name, end in ("0", b"0\n"), ("2", b"2\n"), ("10", b"10"), ("99", b"99"):
        add(f"version_{name}", "another version of the format", make([own_slot()], magic=b"gpuaes-stream/" + end))
    for kind in 0, 0x80, 0xC0, 0xFF:
        slot = unknown_slot(kind, 64)
        add(f"slot_type_{kind:02x}_first", "a slot of a type that readers must not skip", make([slot, own_slot()]))
        add(f"slot_type_{kind:02x}_last", "a slot of a type that readers must not skip", make([own_slot(), slot]))


def add_malformed(kit):
    def add(name, comment, data, secret=BY_KEY):
        kit.add(name, comment, data, 0, DAMAGED, **secret)

    good = make([own_slot()])
    for name, magic in (("word", b"GPUAES-STREAM/1\n"), ("cr", b"gpuaes-stream/1\r"), ("x", b"gpuaes-stream/x\n"),
                         ("00", b"gpuaes-stream/00"), ("01", b"gpuaes-stream/01"), ("02", b"gpuaes-stream/02"),
                         ("1x", b"gpuaes-stream/1x")):
        add(f"magic_{name}", "neither the magic nor that of another version", magic + good[16:])
    add("empty", "the file is empty", b"")
    for size, where in {
        1: "the magic", 15: "the magic", 16: "the suite", 17: "the number of slots", 18: "the size of the slots",
        19: "the size of the slots", 20: "the slots", 22: "the size of a slot", 60: "a slot", 87: "the header MAC",
        118: "the header MAC", 119: "the salt", 142: "the salt", 143: "the commitment", 174: "the commitment",
        175: "the first segment",
    }.items():
        add(f"header_cut_at_{size:03}", f"the file ends before or in {where}", good[:size])
    for count in 0, 33, 255:
        add(f"count_{count:03}", "the number of slots is not allowed", make([own_slot()] * min(count, 33), count=count))
    for name, slots, fields in (
        ("count_less", 2, {"count": 1}), ("count_more", 1, {"count": 2}), ("size_0", 1, {"size": 0}),
        ("size_2", 1, {"size": 2}), ("size_less", 1, {"size": 66}), ("size_more", 1, {"size": 68}),
        ("size_65535", 1, {"size": 65535}),
    ):
        add(f"slots_{name}", "number, size and slots do not match; the MAC is right", make([own_slot()] * slots, **fields))
    for kind, right in sf.BODY_SIZES.items():
        for size in 0, right - 1, right + 1:
            add(f"slot_{kind:02}_of_{size}", f"the body of a slot of type {kind:02} has {size} bytes instead of {right}",
                make([own_slot(), unknown_slot(kind, size)]))
    add("slot_past_the_end", "the size of the last slot exceeds that of all slots",
        make([own_slot(), unknown_slot(5, 64)], size=67 + 60))
    for name, slots in (("two_passphrases", [passphrase_slot(), passphrase_slot()]),
                        ("passphrase_x25519", [passphrase_slot(), x25519_slot()]),
                        ("xwing_passphrase", [xwing_slot(), passphrase_slot()])):
        for secret in BY_PASSPHRASE, BY_KEY:
            add(f"slots_{name}_with_{[*secret][0]}", "slots that must not be combined, whichever secret is given",
                make([*slots, own_slot()]), secret)


def add_not_authentic(kit):
    def add(name, comment, data, secret=BY_KEY):
        kit.add(name, comment, data, 0, DAMAGED, **secret)

    foreign = own_slot(FOREIGN_KEY)
    add("mac_foreign_slot", "the slot unwraps, but not the file key of this header", make([foreign]))
    for name, slot, secret in (("key", own_slot, BY_KEY), ("passphrase", passphrase_slot, BY_PASSPHRASE),
                               ("x25519", x25519_slot, BY_X25519), ("xwing", xwing_slot, BY_XWING)):
        add(f"mac_zero_{name}", "the header MAC is zero", make([slot()], mac=bytes(32)), secret)
    own, other = own_slot(), x25519_slot()
    mac = sf.header(FILE_KEY, [own, other])[-32:]
    for name, comment, slots in (
        ("slot_removed", "a slot was removed", [own]),
        ("slot_added", "a slot was added", [own, other, unknown_slot(5, 3)]),
        ("slots_exchanged", "the slots were exchanged", [other, own]),
        ("slot_changed", "a slot for another secret was changed", [own, (sf.X25519, flipped(other[1], 50))]),
    ):
        add(f"mac_{name}", f"{comment} by someone without the file key", make(slots, mac=mac))
    good = make([own_slot()])
    for at in 87, 118:
        add(f"mac_changed_{at}", "the header MAC was changed", flipped(good, at))
    for suite, changed in (1, 2), (2, 1), (1, 3), (3, 1), (3, 4):
        data = make([own_slot()], suite=suite)
        add(f"suite_{suite:02}_changed_to_{changed:02}", "the suite was changed, so the header MAC is wrong",
            data[:16] + bytes([changed]) + data[17:])
    for suite in 1, 2:
        data = make([own_slot()], suite=suite)
        add(f"salt_changed_suite_{suite:02}", "the salt was changed", flipped(data, 119))
        add(f"commitment_changed_suite_{suite:02}", "the commitment was changed", flipped(data, 143))
        add(f"header_of_another_file_suite_{suite:02}", "a header and a message with different file keys",
            sf.header(FOREIGN_KEY, [foreign], suite) + data[119:])


def add_two_defects(kit):
    """The first one in the order of gpuaes-stream(5) shows."""
    own, strange, short = own_slot(), unknown_slot(0x80, 64), (sf.KEY_FILE, bytes(63))

    def add(name, comment, data, expect=DAMAGED, secret=BY_KEY):
        kit.add(f"two_{name}", comment, data, 0, expect, **secret)

    add("version_cut", "another version, and the file ends after the magic", b"gpuaes-stream/2\n", UNSUPPORTED)
    add("suite_cut", "an unknown suite, and the file ends after it", b"gpuaes-stream/1\n\x05", UNSUPPORTED)
    add("suite_count", "an unknown suite, and no slots",
        sf.header(FILE_KEY, [own], 5, count=0) + bytes(72), UNSUPPORTED)
    add("count_type", "33 slots, and the first has a type that readers must not skip", make([strange, *[own] * 32]))
    add("mac_cut_type", "the file ends in the header MAC, and a slot has a type that readers must not skip",
        make([strange, own])[:20 + 67 + 67 + 31])
    add("size_type", "the slots do not fill their size, and one has a type that readers must not skip",
        make([strange, own], size=135))
    add("type_length", "a slot has a type that readers must not skip, and a later one a wrong size",
        make([strange, short, own]), UNSUPPORTED)
    add("length_type", "a slot has a wrong size, and a later one a type that readers must not skip",
        make([short, strange, own]))
    add("type_combination", "a type that readers must not skip, and two passphrases",
        make([passphrase_slot(), passphrase_slot(), strange, own]), UNSUPPORTED)
    add("type_salt_cut", "a type that readers must not skip, and the file ends in the salt",
        make([strange, own])[:20 + 67 + 67 + 32 + 8], UNSUPPORTED)
    add("salt_cut_secret", "the file ends in the salt, and the secret opens no slot",
        make([own])[:119 + 8], secret={"key": OTHER_KEY})
    add("combination_secret", "slots that must not be combined, and the secret opens none",
        make([passphrase_slot(), x25519_slot()]), secret={"key": OTHER_KEY})
    add("secret_mac", "the secret opens no slot, and the header MAC is zero", make([own], mac=bytes(32)), WRONG_SECRET,
        {"key": OTHER_KEY})
    add("scrypt_mac", "scrypt parameters that are refused, and the header MAC is zero",
        make([passphrase_slot(10, 9)], mac=bytes(32)), secret=BY_PASSPHRASE)
