"""From file to file, against cp and a sync of the file; and from a file that no cache has."""

import os
import shutil

from contender import Contender, fastest, take_turns, times_as_fast
from machine import available_memory, file_system
from settings import MI, runs_of, setting, words_of
from fixture import make_random_file

COPY_AND_SYNC = 'cp --reflink=never -- "$1" "$2" && sync -- "$2"'


def disk_folder():
    """None, with a reason, where there is no disk to measure."""
    folder = setting("BENCH_DISK_DIR", setting("TMPDIR", "/tmp"))
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        return None, f"{folder} is no folder that can be written: set BENCH_DISK_DIR"
    if file_system(folder) in ("tmpfs", "ramfs"):
        return None, f"{folder} is in memory: set BENCH_DISK_DIR to a folder on a disk"
    return folder, ""


def tmpfs_folder():
    if not os.path.isdir("/dev/shm") or file_system("/dev/shm") != "tmpfs" or not os.access("/dev/shm", os.W_OK):
        return None, "/dev/shm is no tmpfs that can be written"
    return "/dev/shm", ""


def run(fixture, report, size):
    fixture.forget_files()  # or they would be on their way to the disk meanwhile
    os.sync()
    for kind, (folder, reason) in (("tmpfs", tmpfs_folder()), ("disk", disk_folder())):
        room = min(shutil.disk_usage(folder).free // 3, available_memory() // 4) if folder else 0
        fits = min(size, room // MI * MI)
        if folder and fits < min(size, 64 * MI):
            folder, reason = None, f"no room for two files of {words_of(min(size, 64 * MI))} in {folder}"
        if folder:
            with fixture.folder_in(folder) as work:
                measure(fixture, report, kind, work, fits)
        else:
            report.heading(f"file to file, {kind}")
            report.skip(reason)
            report.unmeasured(f"{kind}, file to file: times as fast as cp and sync", reason)


def measure(fixture, report, kind, work, size):
    runs = runs_of("BENCH_FILE_RUNS", 3)
    report.heading(f"file to file, {kind} ({file_system(work)}), {words_of(size)}, the input in the page cache, AES-256, "
                   f"median of {runs}")
    source, output = os.path.join(work, "in"), os.path.join(work, "out")
    make_random_file(source, size)
    names = ["-i", source, "-o", output]
    copy = Contender("cp, sync", ["sh", "-c", COPY_AND_SYNC, "sh", source, output])
    ours = [fixture.ours(form, "auto", more=names) for form in ("raw", "sealed")]
    for c in (copy, *ours):
        c.prepare = lambda: fixture.forget(output)
    with open(source, "rb") as file:
        os.fsync(file.fileno())
    take_turns([copy, *ours], runs, 40)
    fixture.forget(output)
    report.rates("output", kind, [copy, *ours], size, [("cp, sync", lambda c: times_as_fast(c, copy))])
    for c in ours:
        report.figure(f"{kind}, file to file, {c.name}: times as fast as cp and sync", times_as_fast(c, copy), 1.0)
    if kind == "disk":
        measure_cold(fixture, report, source, size, runs)


def evict(path):
    """Whether the page cache let it go, as far as the system can tell."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        for at in (0, os.fstat(fd).st_size // 2):
            try:
                if os.preadv(fd, [bytearray(4096)], at // 4096 * 4096, os.RWF_NOWAIT) > 0:
                    return False
            except OSError:  # it would have to wait for the disk, or cannot tell
                pass
        return True
    finally:
        os.close(fd)


def reads_directly(path):
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
        return bool(shutil.which("dd"))
    except OSError:
        return False


def measure_cold(fixture, report, source, size, runs):
    report.heading(f"cold file of {words_of(size)} to /dev/null, median of {runs} (the disk's own caches may have it)")
    if not evict(source):
        report.skip("the page cache does not let go of the file here")
        return
    cat = Contender("cat", ["cat"], source)
    limits = [fixture.read_alone(source, threads, MI, threads) for threads in dict.fromkeys((1, fixture.cpus))]
    if reads_directly(source):
        limits.append(Contender("dd, O_DIRECT, 16M", ["dd", f"if={source}", "of=/dev/null", "bs=16M", "iflag=direct"]))
    ours = [fixture.ours(form, "auto", source) for form in ("raw", "sealed")]
    contenders = [cat, *limits, *ours]
    for c in contenders:
        c.prepare = lambda: evict(source)
    take_turns(contenders, runs, 40)
    report.rates("output", "cold", contenders, size,
                 [("cat", lambda c: times_as_fast(c, cat)), ("best", lambda c: times_as_fast(c, fastest([cat, *limits])))])
