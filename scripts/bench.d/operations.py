"""Operations other than encryption on a large file."""

import os

from units import KI, MI, words_of

SEGMENT_BYTES = 16 * KI
EVERY_DAMAGED = 1000  # one segment in this many


def run(fixture):
    size, lanes = fixture.file_size, ["cpu", *fixture.cuda_lanes()]
    part = max(size // MI - 16, 1)  # MiB
    actions = (("decrypt", []), ("test", ["--test"]), ("salvage", ["--salvage"]),
               ("range of 1 MiB in the middle", ["--range", f"{size // MI // 2}M:1M"]),
               ("range of 3/4 in the middle", ["--range", f"{part // 8}M:{part * 3 // 4}M"]))
    fixture.results.heading(f"encrypted file of {words_of(size)}")
    path = fixture.encrypted(size)
    measure(fixture, "sealed", [make(fixture, "open", path, *each, on) for on in lanes for each in actions])
    damage(path)
    damaged = [make(fixture, "open", path, "salvage, damaged", ["--salvage"], each) for each in lanes]
    for c in damaged:
        c.good_status = 4
    measure(fixture, "sealed, damaged", damaged)
    path = fixture.encrypted(size, "age")
    measure(fixture, "age", [make(fixture, "open age", path, *each, "cpu") for each in actions])


def measure(fixture, form, contenders):
    fixture.compare(f"{words_of(fixture.file_size)}, {form}", contenders, fixture.file_size)
    if form != "sealed":
        fixture.forget_encrypted()


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
