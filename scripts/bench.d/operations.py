"""Operations other than encryption on a large file."""

import os

from units import KI, MI, words_of

SEGMENT_BYTES = 16 * KI
EVERY_DAMAGED = 1000  # one segment in this many


def run(fixture):
    fixture.results.heading(f"encrypted file of {words_of(fixture.file_size)}")
    path, lanes = fixture.encrypted(fixture.file_size), ["cpu", *fixture.cuda_lanes()]
    measure(fixture, "sealed", undamaged(fixture, "open", path, lanes))
    damage(path)
    damaged = [make(fixture, "open", path, "salvage, damaged", ["--salvage"], each) for each in lanes]
    for c in damaged:
        c.good_status = 4
    measure(fixture, "sealed, damaged", damaged)
    fixture.forget_encrypted()
    measure(fixture, "age", undamaged(fixture, "open age", fixture.encrypted(fixture.file_size, "age"), ["cpu"]))
    fixture.forget_encrypted()


def measure(fixture, form, contenders):
    size = fixture.file_size
    fixture.compare(f"{words_of(size)}, {form}", contenders, size)


def undamaged(fixture, form, path, lanes):
    """What can be done with a file that ours() opens as `form`."""
    return [make(fixture, form, path, *each, on) for on in lanes for each in actions(fixture.file_size)]


def actions(size):
    part = max(size // MI - 16, 1)  # MiB
    return (("decrypt", []), ("test", ["--test"]), ("salvage", ["--salvage"]),
            ("range of 1 MiB in the middle", ["--range", f"{size // MI // 2}M:1M"]),
            ("range of 3/4 in the middle", ["--range", f"{part // 8}M:{part * 3 // 4}M"]))


def make(fixture, form, path, action, options, lanes):
    contender = fixture.ours(form, lanes, path, more=options)
    contender.name, contender.facts["action"] = f"{action} -l {lanes}", action
    return contender


def damage(path):
    """Changes one byte in one of every EVERY_DAMAGED segments."""
    with open(path, "r+b") as file:
        for at in range(SEGMENT_BYTES, os.path.getsize(path) - SEGMENT_BYTES, EVERY_DAMAGED * SEGMENT_BYTES):
            byte = os.pread(file.fileno(), 1, at)
            os.pwrite(file.fileno(), bytes([byte[0] ^ 1]), at)
