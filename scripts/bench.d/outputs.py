"""From file to file, against cp and sync; and from a file that is not in the page cache."""

import os
import shutil

from contender import Contender, take_turns
from fixture import make_random_file
from machine import available_memory, file_system
from units import MI, words_of

COPY_AND_SYNC = 'cp --reflink=never -- "$1" "$2" && sync -- "$2"'


def memory_folder():
    """None if there is no folder in memory."""
    usable = os.path.isdir("/dev/shm") and file_system("/dev/shm") == "tmpfs" and os.access("/dev/shm", os.W_OK)
    return "/dev/shm" if usable else None


def disk_folder(fixture):
    """None if the given folder is in memory as well."""
    usable = os.path.isdir(fixture.disk) and file_system(fixture.disk) not in ("tmpfs", "ramfs")
    return fixture.disk if usable else None


def run(fixture):
    fixture.forget_files()  # otherwise the system may be writing them to the disk
    os.sync()
    for kind, folder in (("memory", memory_folder()), ("disk", disk_folder(fixture))):
        room = min(shutil.disk_usage(folder).free // 3, available_memory() // 4) if folder else 0
        size = min(fixture.stream_size, room // MI * MI)
        if size < min(fixture.stream_size, 64 * MI):
            fixture.results.left_out(f"file to file, {kind}: no folder with room")
            continue
        with fixture.folder_in(folder) as work:
            measure(fixture, kind, work, size)


def remove(path):
    if os.path.exists(path):
        os.remove(path)


def measure(fixture, kind, work, size):
    fixture.results.heading(f"file to file, {kind} ({file_system(work)}), {words_of(size)}")
    source, output = os.path.join(work, "in"), os.path.join(work, "out")
    make_random_file(source, size)
    with open(source, "rb") as file:
        os.fsync(file.fileno())
    copy = Contender("cp, sync", ["sh", "-c", COPY_AND_SYNC, "sh", source, output], action="copy")
    ours = [fixture.ours(form, "auto", more=["-i", source, "-o", output]) for form in ("raw", "sealed")]
    openssl = fixture.openssl(source)
    openssl.command += ["-out", output]
    for c in (copy, *ours, openssl):
        c.prepare = lambda: remove(output)
    take_turns([copy, *ours, openssl], fixture.runs(3), fixture.deadline.at_most(20))
    remove(output)
    fixture.results.compare("output", f"{kind}, {words_of(size)}", [copy, *ours, openssl], size, copy, openssl)
    if kind == "disk":
        measure_cold(fixture, source, size)


def evict(path):
    """Whether the page cache dropped the file, if the system reports it."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        for at in (0, os.fstat(fd).st_size // 2):
            try:
                if os.preadv(fd, [bytearray(4096)], at // 4096 * 4096, os.RWF_NOWAIT) > 0:
                    return False
            except OSError:  # not in the page cache, or not supported
                pass
        return True
    finally:
        os.close(fd)


def measure_cold(fixture, source, size):
    fixture.results.heading(f"file of {words_of(size)} that is not in the page cache to /dev/null")
    if not evict(source):
        fixture.results.left_out("file that is not in the page cache: the system keeps it there")
        return
    cat = Contender("cat", ["cat"], source, action="copy")
    ours = [fixture.ours(form, "auto", source) for form in ("raw", "sealed")]
    for c in (cat, *ours):
        c.prepare = lambda: evict(source)
    take_turns([cat, *ours], fixture.runs(3), fixture.deadline.at_most(15))
    fixture.results.compare("cold", words_of(size), [cat, *ours], size, cat)
