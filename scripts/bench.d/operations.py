"""Other operations on a large sealed file, and the cost of a passphrase."""

import os
import shutil

from contender import Contender, take_turns
from units import GI, KI, MI, words_of

SEGMENT_BYTES = 16 * KI
EVERY_DAMAGED = 1000  # one segment in this many


def run(fixture):
    size = fixture.file_size
    fixture.results.heading(f"sealed file of {words_of(size)}")
    path = fixture.sealed(size)
    runs, deadline = fixture.runs(3), fixture.deadline.at_most(40)
    contenders = [make(fixture, path, action, options, lanes) for lanes in ("cpu", *(["cuda:0"] if fixture.gpus else []))
                  for action, options in actions(size)]
    contenders.append(make(fixture, path, "info", ["--info"], None))
    take_turns(contenders, runs, deadline)
    damage(path)
    damaged = [make(fixture, path, "salvage, damaged", ["--salvage", "-d"], lanes)
               for lanes in ("cpu", *(["cuda:0"] if fixture.gpus else []))]
    for c in damaged:
        c.good_status = 4
    take_turns(damaged, runs, deadline)
    fixture.results.compare("operations", words_of(size), [*contenders, *damaged], size)
    fixture.forget_files()  # the large files; the others are made again when they are needed
    run_rekey(fixture)
    run_passphrase(fixture)


def actions(size):
    part = max(size // MI - 16, 1)  # MiB
    return (("decrypt", ["-d"]), ("test", ["--test"]), ("salvage", ["-d", "--salvage"]),
            ("range of 1 MiB at the end", ["-d", "--range", f"{size // MI - 1}M:1M"]),
            ("range of 3/4 in the middle", ["-d", "--range", f"{part // 8}M:{part * 3 // 4}M"]))


def make(fixture, path, action, options, lanes):
    if action == "info":
        return Contender(action, [fixture.program, "-q", *options], path, program="gpuaes-stream", action=action)
    command = [fixture.program, "-q", "-k", fixture.key_file, *options, "-l", lanes]
    return Contender(f"{action} -l {lanes}", command, path, program="gpuaes-stream", cipher="aes-256", format="sealed",
                     action=action, lanes=lanes)


def damage(path):
    """Changes one byte in one of every EVERY_DAMAGED segments."""
    with open(path, "r+b") as file:
        for at in range(SEGMENT_BYTES, os.path.getsize(path) - SEGMENT_BYTES, EVERY_DAMAGED * SEGMENT_BYTES):
            byte = os.pread(file.fileno(), 1, at)
            os.pwrite(file.fileno(), bytes([byte[0] ^ 1]), at)


def run_rekey(fixture):
    """--rekey rewrites the whole file, so it is compared with cp."""
    size = min(fixture.file_size, GI)
    sealed, work = fixture.sealed(size), fixture.path("rekeyed")
    other = fixture.write_secret("other.key", os.urandom(32))
    rekey = Contender("rekey", [fixture.program, "-q", "--rekey", "-k", fixture.key_file, "--new-key", other, "-i", work],
                      program="gpuaes-stream", format="sealed", action="rekey")
    rekey.prepare = lambda: shutil.copyfile(sealed, work)
    copy = Contender("cp, sync", ["sh", "-c", 'cp --reflink=never -- "$1" "$2" && sync -- "$2"', "sh", sealed, work], action="copy")
    take_turns([copy, rekey], fixture.runs(3), fixture.deadline.at_most(20))
    fixture.results.compare("rekey", words_of(size), [copy, rekey], size, copy)
    os.remove(work)


def run_passphrase(fixture):
    path = fixture.file_of(KI)
    seal = [fixture.program, "-q", "--passphrase-file", fixture.passphrase_file]
    sealed = fixture.made_of(KI, "passphrase", seal)
    contenders = [Contender(f"passphrase, {action}", [*seal, *options], source, program="gpuaes-stream", cipher="aes-256",
                            format="sealed", action=action)
                  for action, options, source in (("encrypt", [], path), ("decrypt", ["-d"], sealed))]
    take_turns(contenders, fixture.runs(3), fixture.deadline.at_most(10))
    fixture.results.compare("passphrase", "1 KiB", contenders, KI)
