"""From file to file, with other programs. The output is on the disk when a run ends, as with `cp` and `sync`."""

import os
import shutil

from contender import Contender
from fixture import evict, folder_in, make_random_file, memory_folder
from machine import file_system, lines_of, memory
from units import MI, words_of


def synced(command, output):
    """The command, and then sync."""
    return ["sh", "-c", '"$@" && sync -- "$0"', output, *command]


def copy_and_sync(source, output):
    return Contender("cp, sync", synced(["cp", "--reflink=never", "--", source, output], output), action="copy")


def disk_folder(fixture):
    """None if the given folder is in memory as well."""
    usable = os.path.isdir(fixture.disk) and file_system(fixture.disk) not in ("tmpfs", "ramfs")
    return fixture.disk if usable else None


def run(fixture):
    fixture.forget_files()
    for kind, folder in (("disk", disk_folder(fixture)), ("disk, cold input", disk_folder(fixture)), ("memory", memory_folder())):
        room = min(shutil.disk_usage(folder).free // 3, memory("MemAvailable") // 4) if folder else 0
        size = min(fixture.stream_size, room // MI * MI)
        if size < min(fixture.stream_size, 64 * MI):
            fixture.results.left_out(f"{kind}: no folder with room")
            continue
        with folder_in(folder) as work:
            measure(fixture, kind, work, size)


def cached_bytes(*paths):
    return sum(map(int, lines_of("fincore", "--bytes", "--noheadings", "--output", "RES", *paths)))


def remove(path):
    if os.path.exists(path):
        os.remove(path)


def measure(fixture, kind, work, size):
    fixture.results.heading(f"file to file, {kind} ({file_system(work)}), {words_of(size)}")
    source, output = os.path.join(work, "in"), os.path.join(work, "out")
    make_random_file(source, size)
    copy = copy_and_sync(source, output)
    ours = [fixture.ours(form, "auto", more=["-o", output, source]) for form in ("raw", "sealed", "age")]
    openssl, *rivals = [fixture.openssl(), *fixture.age_rivals("age")]
    openssl.command = synced([*openssl.command, "-in", source, "-out", output], output)
    for rival in rivals:
        rival.command = synced([*rival.command, "-o", output, source], output)
    contenders = [copy, *ours, openssl, *rivals]
    is_cold = "cold" in kind
    can_count = is_cold and shutil.which("fincore")
    if is_cold and not can_count:
        fixture.results.left_out(f"{kind}: what stays in the page cache: fincore is not installed")

    def prepare():
        remove(output)
        if is_cold:
            evict(source)

    for c in contenders:
        c.prepare = prepare
        c.count_cached = (lambda: cached_bytes(source, output)) if can_count else None
    fixture.compare(f"{kind}, {words_of(size)}", contenders, size)
    remove(output)
