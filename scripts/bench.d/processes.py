"""One file in memory, sealed and decrypted by several processes at the same time, and by one."""

import os
import shutil

from contender import Contender
from fixture import folder_in, make_random_file, memory_folder
from outputs import remove
from units import GI, words_of

COUNTS = (2, 8)
MAX_BYTES = 4 * GI

# $1: a folder with in, key, sealed. $2: number of processes. $3: CPU threads of each. $4: their programs.
EACH = """pids=; for i in $(seq 0 $(($2 - 1))); do {} & pids="$pids $!"; done; for pid in $pids; do wait $pid || exit; done"""
SEAL = ('cd "$1" && "$4/gpuaes-parts" plan -q -k key -i in -n $2 -o parts >count && '
        + EACH.format('"$4/gpuaes-parts" seal -q -l cpu:$3 parts --part $i') + '; "$4/gpuaes-parts" join -q parts')
FILES = 'cd "$1"; ' + EACH.format('"$4/gpuaes-stream" -q -d -k key -l cpu:$3 --share $i/$2 -o out.$i sealed')
INTO = 'cd "$1"; ' + EACH.format('"$4/gpuaes-stream" -q -d -k key -l cpu:$3 --share $i/$2 --into out sealed')


def run(fixture):
    folder = memory_folder()
    size = min(fixture.file_size, MAX_BYTES)
    if not folder or shutil.disk_usage(folder).free < 3 * size:
        fixture.results.left_out("no folder in memory with room")
        return
    fixture.forget_files()
    with folder_in(folder) as work:
        measure(fixture, work, size)


def clear(work):
    shutil.rmtree(os.path.join(work, "parts"), ignore_errors=True)
    for name in ("out", *(f"out.{i}" for i in range(max(COUNTS)))):
        remove(os.path.join(work, name))


def measure(fixture, work, size):
    fixture.results.heading(f"several processes, in memory, {words_of(size)}")
    source, sealed = (os.path.join(work, name) for name in ("in", "sealed"))
    make_random_file(source, size)
    os.utime(source, (0, 0))  # plan waits if a file was modified just now
    shutil.copy(fixture.key_file, os.path.join(work, "key"))
    alone = fixture.ours("sealed", "cpu", more=["-i", source, "-o", sealed])
    alone.name = "gpuaes-stream -o"
    opened = Contender("gpuaes-stream -d -o", [fixture.program, "-q", "-d", "-k", fixture.key_file, "-l", "cpu", sealed,
                                              "-o", os.path.join(work, "out")], action="decrypt")
    for title, baseline, scripts in (("seal", alone, {"parts": SEAL}), ("decrypt", opened, {"files": FILES, "--into": INTO})):
        contenders = [baseline, *(make(fixture, work, name, script, count) for name, script in scripts.items() for count in COUNTS)]
        for c in contenders:
            c.prepare = lambda: clear(work)
        fixture.compare(f"{title}, {words_of(size)}", contenders, size)
    clear(work)


def make(fixture, work, name, script, count):
    threads = max(len(os.sched_getaffinity(0)) // count, 1)
    command = ["sh", "-c", script, "sh", work, str(count), str(threads), os.path.dirname(os.path.abspath(fixture.program))]
    return Contender(f"{name}, {count} processes", command, action=name, lanes=f"cpu:{threads}")
