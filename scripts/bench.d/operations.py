"""Other operations on a large file, and the cost of a passphrase."""

import os
import shutil

from contender import Contender
from outputs import copy_and_sync
from units import GI, KI, MI, words_of

SEGMENT_BYTES = 16 * KI
EVERY_DAMAGED = 1000  # one segment in this many


def run(fixture):
    fixture.results.heading(f"sealed file of {words_of(fixture.file_size)}")
    path, lanes = fixture.encrypted(fixture.file_size), ["cpu", *fixture.cuda_lanes()[:1]]
    measure(fixture, "sealed", undamaged(fixture, "open", path, lanes))
    damage(path)
    damaged = [make(fixture, "open", path, "salvage, damaged", ["--salvage"], each) for each in lanes]
    for c in damaged:
        c.good_status = 4
    measure(fixture, "sealed", damaged)
    fixture.forget_files()  # the large files; the others are made again when they are needed
    other = fixture.write_secret("other.key", os.urandom(32))
    run_rekey(fixture, "sealed", ["-k", fixture.key_file, "--new-key", other])
    run_passphrase(fixture)


def measure(fixture, form, contenders):
    size = fixture.file_size
    fixture.compare("operations", f"{words_of(size)}, {form}", contenders, size, 3, 30)


def undamaged(fixture, form, path, lanes):
    """What can be done with a file that ours() opens as `form`."""
    info = Contender("info", [fixture.program, "-q", "--info"], path, program="gpuaes-stream", action="info")
    return [*(make(fixture, form, path, *each, on) for on in lanes for each in actions(fixture.file_size)), info]


def actions(size):
    part = max(size // MI - 16, 1)  # MiB
    return (("decrypt", []), ("test", ["--test"]), ("salvage", ["--salvage"]),
            ("range of 1 MiB at the end", ["--range", f"{size // MI - 1}M:1M"]),
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


def run_rekey(fixture, form, keys):
    """--rekey rewrites the whole file, so it is compared with cp."""
    size = min(fixture.file_size, GI)
    original, work = fixture.encrypted(size, form), fixture.path("rekeyed")
    command = [fixture.program, "-q", "--rekey", *keys, "-i", work]
    rekey = Contender("rekey", command, program="gpuaes-stream", format=form, action="rekey")
    rekey.prepare = lambda: shutil.copyfile(original, work)
    copy = copy_and_sync(original, work)
    fixture.compare("rekey", f"{words_of(size)}, {form}", [copy, rekey], size, 3, 20, copy)
    os.remove(work)


def run_passphrase(fixture):
    path = fixture.file_of(KI)
    seal = [fixture.program, "-q", "--passphrase-file", fixture.passphrase_file]
    sealed = fixture.made_of(KI, "passphrase", seal)
    contenders = [Contender(f"passphrase, {action}", [*seal, *options], source, program="gpuaes-stream", cipher="aes-256",
                            format="sealed", action=action)
                  for action, options, source in (("encrypt", [], path), ("decrypt", ["-d"], sealed))]
    fixture.compare("passphrase", "1 KiB", contenders, KI, 3, 10)
