"""Files with every type of slot, and secrets that open none."""

import sealed_format as sf
import xwing
from common import (
    BY_KEY, BY_PASSPHRASE, BY_X25519, BY_XWING, DAMAGED, FILE_KEY, FOREIGN_KEY, IDENTITIES, OTHER_KEY,
    WRONG_SECRET, XWING, careless_x25519_slot, careless_xwing_slot, make, own_slot, passphrase_slot, unknown_slot, x25519_slot,
    xwing_slot)
from programs import flipped

# For each kind of secret: the type of its slot, a function that makes one, the secret that opens it, and another one.
KINDS = {
    "key": (sf.KEY_FILE, own_slot, BY_KEY, {"key": OTHER_KEY}),
    "passphrase": (sf.PASSPHRASE, passphrase_slot, BY_PASSPHRASE, {"passphrase": b"battery staple"}),
    "x25519": (sf.X25519, x25519_slot, BY_X25519, {"identity": IDENTITIES[1]}),
    "xwing": (sf.XWING, xwing_slot, BY_XWING, {"pq_identity": XWING[1][0]}),
}


def add_to(kit):
    add_opened(kit)
    add_passphrases(kit)
    add_not_opened(kit)
    add_weak_points(kit)


def add_opened(kit):
    for suite in 1, 2, 3, 4:
        for name, (kind, slot, secret, _) in KINDS.items():
            kit.add(f"slot_{name}_suite_{suite:02}", f"one slot, of type {kind:02}", make([slot()], suite=suite), 100,
                    **secret)
    for pair in ("key", "passphrase"), ("key", "x25519"), ("key", "xwing"), ("x25519", "xwing"):
        for name in pair:
            kind, _, secret, _ = KINDS[name]
            kit.add(f"slots_{'_'.join(pair)}_with_{name}", f"two slots; the secret is that of type {kind:02}",
                    make([KINDS[each][1]() for each in pair]), 100, **secret)

    def add(name, comment, slots, secret=BY_KEY):
        kit.add(f"slots_{name}", comment, make(slots), 100, **secret)

    other, foreign, own = sf.key_slot(FILE_KEY, OTHER_KEY), own_slot(FOREIGN_KEY), own_slot()
    add("first_of_two_keys", "the first of two slots opens", [own, other])
    add("second_of_two_keys", "the second of two slots opens", [other, own])
    add("second_of_two_x25519", "the second of two slots opens", [x25519_slot(1), x25519_slot()], BY_X25519)
    add("second_of_two_xwing", "the second of two slots opens", [xwing_slot(1), xwing_slot()], BY_XWING)
    add("last_of_32", "the last of 32 slots opens", [*[other] * 31, own])
    add("twice_the_same", "two equal slots", [own, own])
    add("damaged_then_good", "the first slot does not unwrap; the second opens", [(sf.KEY_FILE, flipped(own[1], 40)), own])
    add("foreign_then_good", "the first slot unwraps, but not the file key of this header; the second opens", [foreign, own])
    add("good_then_foreign", "the first slot opens; the second unwraps another file key", [own, foreign])
    add("zero_x25519_then_good", "the secret of the first slot is zero, so it does not open; the second opens",
        [careless_x25519_slot(bytes(32), bytes(32)), x25519_slot()], BY_X25519)
    add("zero_xwing_then_good", "the secret of X25519 in the first slot is zero, so it does not open; the second opens",
        [careless_xwing_slot(bytes(32), bytes(32)), xwing_slot()], BY_XWING)
    add("not_canonical_xwing_then_good",
        "the X25519 part of the first slot is not canonical, so it does not open; the second opens",
        [careless_xwing_slot(b"\xff" * 32, bytes(32)), xwing_slot()], BY_XWING)
    add("unknown_empty", "a slot of an unknown type to be skipped, with an empty body", [unknown_slot(5, 0), own])
    add("unknown_large", "a slot of an unknown type to be skipped, as large as possible",
        [unknown_slot(0x7F, 65535 - 3 - 67), own])
    add("unknown_last", "a slot of an unknown type to be skipped, after the one that opens", [own, unknown_slot(5, 7)])
    for first in range(5, 0x80, 31):
        types = range(first, min(first + 31, 0x80))
        add(f"unknown_{first:02x}_to_{types[-1]:02x}", "slots of unknown types to be skipped",
            [*(unknown_slot(kind, kind) for kind in types), own])
    add("refused_scrypt_with_key", "scrypt parameters that are not allowed do not matter if only a key is given",
        [passphrase_slot(10, 9), own])
    kit.add("refused_scrypt_alone_with_key", "there is no slot for the key; the scrypt parameters do not matter",
            make([passphrase_slot(10, 9)]), 0, WRONG_SECRET, **BY_KEY)


def add_passphrases(kit):
    def add(name, comment, passphrase):
        kit.add(f"passphrase_{name}", comment, make([sf.passphrase_slot(FILE_KEY, passphrase, 10)]), 100,
                passphrase=passphrase)

    add("one_byte", "a passphrase of one byte", b"x")
    add("spaces", "spaces and tabs belong to the passphrase", b"  two  words \t")
    add("utf-8", "a passphrase in UTF-8", "pa\u00dfwort \U0001f512".encode())
    add("not_utf-8", "a passphrase that is not UTF-8", b"\xff\xfe\x80")
    add("65_bytes", "a passphrase that is longer than a block of SHA-256", b"0123456789abc" * 5)
    add("1024_bytes", "the longest passphrase", b"0123456789abcdef" * 64)
    for log_n in 11, 17:
        kit.add(f"scrypt_{log_n}", f"log2 N is {log_n}", make([passphrase_slot(log_n)]), 100, **BY_PASSPHRASE)
    for n, r, p in (
        *((n, 8, 1) for n in (0, 9, 21, 63, 255)), *((10, r, 1) for r in (0, 7, 9, 255)), *((10, 8, p) for p in (0, 2, 255)),
        (10, 1, 8),
    ):
        slot = sf.PASSPHRASE, bytes([n, r, p]) + bytes(64)
        kit.add(f"scrypt_{n}_{r}_{p}", f"log2 N, r and p are {n}, {r} and {p}: refused before memory is allocated",
                make([slot, own_slot()]), 0, DAMAGED, **BY_PASSPHRASE)


def add_not_opened(kit):
    changes = {
        "key": {"salt": 0, "wrapped": 16, "tag": 63},
        "passphrase": {"salt": 3, "wrapped": 19, "tag": 66},
        "x25519": {"ephemeral": 0, "wrapped": 32, "tag": 79},
        "xwing": {"ml-kem": 0, "ephemeral": 1088, "wrapped": 1120, "tag": 1167},
    }
    for name, (kind, slot, secret, wrong) in KINDS.items():
        kit.add(f"wrong_{name}", "the secret does not open the slot", make([slot()]), 0, WRONG_SECRET, **wrong)
        others = [KINDS[other][1]() for other in KINDS if other not in (name, "passphrase")]
        kit.add(f"no_slot_for_{name}", "there is no slot for this kind of secret", make(others), 0, WRONG_SECRET, **wrong)
        for place, at in changes[name].items():
            kit.add(f"slot_{name}_changed_{place}", "the slot was changed, so it does not unwrap",
                    make([(kind, flipped(slot()[1], at))]), 0, WRONG_SECRET, **secret)
    for suite in 2, 3, 4:
        kit.add(f"wrong_key_suite_{suite:02}", "the secret does not open the slot", make([own_slot()], suite=suite), 0,
                WRONG_SECRET, key=OTHER_KEY)
    kit.add("only_unknown_slots", "there are only slots to be skipped", make([unknown_slot(5, 64), unknown_slot(0x7F, 0)]), 0,
            WRONG_SECRET, **BY_KEY)


def add_weak_points(kit):
    """Public keys of X25519 that are not canonical, or result in a shared secret of zero."""
    p, zero = 2**255 - 19, bytes(32)

    def to_bytes(number):
        return number.to_bytes(32, "little")

    def with_highest_bit(point):
        return point[:31] + bytes([point[31] | 0x80])

    def add(name, slot, secret):
        kit.add(name, "an X25519 key is not canonical, or the secret is zero, so the slot does not open", make([slot]), 0,
                WRONG_SECRET, **secret)

    low_order = [to_bytes(number) for number in (
        0, 1, 325606250916557431795983626356110631294008115727848805560023387167927233504,
        39382357235489614581723060781553021112529911719440698176882885853963445705823, p - 1, p, p + 1)]
    for i, low in enumerate(low_order):
        add(f"x25519_low_order_{i}", careless_x25519_slot(low, zero), BY_X25519)
        add(f"x25519_low_order_{i}_highest_bit", careless_x25519_slot(with_highest_bit(low), zero), BY_X25519)
    add("xwing_zero", careless_xwing_slot(zero, zero), BY_XWING)
    add("xwing_low_order", careless_xwing_slot(low_order[2], zero), BY_XWING)

    for name, careless, private, ephemeral, secret in (
        ("x25519", careless_x25519_slot, IDENTITIES[0], bytes(range(40, 72)), BY_X25519),
        ("xwing", careless_xwing_slot, xwing.expand(XWING[0][0])[1], XWING[0][1][32:], BY_XWING),
    ):
        at_nine = xwing.x25519(private, to_bytes(9))
        kit.add(f"{name}_nine", "the ephemeral key is 9, which is canonical", make([careless(to_bytes(9), at_nine)]), 100,
                **secret)
        add(f"{name}_not_reduced", careless(to_bytes(9 + p), at_nine), secret)
        shared = xwing.x25519(ephemeral, sf.public_key(private))
        add(f"{name}_highest_bit", careless(with_highest_bit(sf.public_key(ephemeral)), shared), secret)
