"""Costs that do not depend on the size of the data: a whole process, a passphrase; and --rekey."""

import os
import shutil

from contender import Contender
from outputs import copy_and_sync, remove
from units import GI, KI, words_of

SMALL_RUNS = 21


def run(fixture):
    fixture.results.heading("fixed costs, and --rekey")
    path = fixture.file_of(KI)
    sources = {"raw": path, "sealed": path, "open": fixture.encrypted(KI), "age": path, "open age": fixture.encrypted(KI, "age")}
    ours = [fixture.ours(form, "cpu", source) for form, source in sources.items()]
    ours += [fixture.ours("sealed", lanes, path) for lanes in fixture.cuda_lanes()]
    rivals = [fixture.openssl(path), *(rival for form in ("age", "open age") for rival in fixture.with_gpuage(form, sources[form])),
              *fixture.gpg(path)]
    fixture.compare("1 KiB", [*ours, *rivals], KI, runs=SMALL_RUNS)
    run_passphrase(fixture, path)
    run_rekey(fixture)


def run_passphrase(fixture, path):
    seal = [fixture.program, "-q", "--passphrase-file", fixture.passphrase_file]
    sealed = fixture.made_of(KI, "passphrase", seal)
    fixture.compare("1 KiB, passphrase", [
        Contender(f"passphrase, {action}", [*seal, *options], source, program="gpuaes-stream", cipher="aes-256", format="sealed",
                  action=action) for action, options, source in (("encrypt", [], path), ("decrypt", ["-d"], sealed))], KI)


def run_rekey(fixture):
    """--rekey rewrites the whole file, so it is compared with cp."""
    size = min(fixture.file_size, GI)
    original, work = fixture.encrypted(size), fixture.path("rekeyed")
    command = [fixture.program, "-q", "--rekey", "-k", fixture.key_file, "--new-key", fixture.write_secret("other.key", os.urandom(32)),
               "-i", work]
    rekey = Contender("rekey", command, program="gpuaes-stream", format="sealed", action="rekey")
    rekey.prepare = lambda: (shutil.copyfile(original, work), os.sync())
    copy = copy_and_sync(original, work)
    copy.prepare = lambda: remove(work)
    fixture.compare(f"{words_of(size)}, rekey", [copy, rekey], size)
    os.remove(work)
