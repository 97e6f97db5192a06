"""Executes one run with one fault and judges the result."""

import collections
import contextlib
import fcntl
import os
import re
import signal
import stat
import struct
import subprocess
import tempfile

PIPE_BYTES = 1 << 20  # holds the input of each run
TIMEOUT = 30  # seconds, enough for a busy machine; a run that takes longer is considered hung

# Faults that the programs tolerate at any call.
HARMLESS = re.compile(
    r"(read|pread|write|fsync|fdatasync|close|ftruncate|fallocate|poll|epoll_wait|waitpid)=EINTR|\w+=short|fcntl=EPERM"
    r"|(O_TMPFILE|O_DIRECT|preadv|mincore|mlock|madvise|posix_fadvise|sync_file_range)=\w+|fallocate=EOPNOTSUPP")

# Faults after which data may be lost, if they hit an output.
LOSSES = re.compile(r"(write|fsync|fdatasync|close|ftruncate)=(EIO|ENOSPC)")

# wrong: the problem, or None. where: what the fault hit, empty if it was not injected. record: all calls.
Outcome = collections.namedtuple("Outcome", "wrong status where stderr record")

LAYOUT = struct.Struct("=56sQQ256s")  # Entry in tests/faults/record.hpp
CAPACITY = 1024
Entry = collections.namedtuple("Entry", "calls injected where")


def text_of(field):
    return field.split(b"\0", 1)[0].decode(errors="replace")


class Record:
    """The fault library's record of a process: the calls that faults could hit, and those that they did hit."""

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as file:
            file.truncate(CAPACITY * LAYOUT.size)

    def environment(self, library, fault):
        """The environment for the process. `fault` is NAME:N, NAME:N+, or empty to only count calls."""
        return {"LD_PRELOAD": library, "FAULTS_RECORD": self.path, "FAULTS_AT": fault}

    def read(self):
        """Returns the entries by the fault's name, and removes the file."""
        entries = {}
        with open(self.path, "rb") as file:
            while chunk := file.read(LAYOUT.size):
                name, calls, injected, where = LAYOUT.unpack(chunk)
                if not text_of(name):
                    break
                entries[text_of(name)] = Entry(calls, injected, text_of(where))
        os.unlink(self.path)
        return entries


@contextlib.contextmanager
def filled_pipe(content):
    """A pipe that already holds `content`, so it is read the same way every time."""
    read_end, write_end = os.pipe()
    try:
        fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        os.write(write_end, content)
        os.close(write_end)
        yield read_end
    finally:
        os.close(read_end)


def run_program(fixture, run, folder, environment):
    """The exit status, and standard output and error, or None if it hangs."""
    command = fixture.expand(f"{{{run.program}}} {run.arguments}")
    with filled_pipe(run.stdin) as stdin:
        process = subprocess.Popen(command, cwd=folder, env={**fixture.environment, **environment}, stdin=stdin,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        output = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        output = None
    return process.returncode, output


def wrong_messages(program, status, stderr, silent):
    lines = stderr.splitlines()
    count = collections.Counter()
    for line in lines:
        found = re.match(rf"{program}: (error|hint|warning): [^A-Z ].*[^. ]$", line)
        if not found:
            return f"unexpected line on standard error: {line}"
        count[found[1]] += 1
    if status == 0 and count["error"]:
        return "an error message with status 0"
    if status != 0 and count["error"] != 1 and not silent:
        return f"{count['error']} error messages"
    return "several hints" if count["hint"] > 1 else None


def names_in(folder):
    """The files in a folder and in the folders in it, and those of these folders that are empty."""
    names = set()
    for path, folders, files in os.walk(folder):
        inner = os.path.relpath(path, folder)
        names |= {os.path.normpath(os.path.join(inner, name)) for name in files}
        if inner != "." and not folders and not files:
            names.add(inner + "/")
    return names


def wrong_files(run, folder, status, lost):
    """The working folder must have complete results, or the files from before the run. A run that fails after its
    output is complete may leave the output, unless a part of it may be `lost`."""
    there, whole, before = names_in(folder), set(run.results), set(run.files)
    if status != 0:
        there = {name for name in there if not (run.keeps and re.fullmatch(run.keeps, name))}
    if not before - run.removes <= there <= before | whole or (status == 0 and (not whole <= there or run.removes & there)):
        return f"leaves the files {sorted(there)}; before, there were {sorted(before)}"
    for name in there:
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            content = file.read()
        if content == run.files.get(name) and (status != 0 or name not in whole):
            continue
        if name not in whole:
            return f"changes {name}"
        if status != 0 and lost and len(run.results) == 1:
            return f"leaves {name}, {len(content)} bytes, though a part of it may be lost"
        extra = stat.S_IMODE(os.stat(path).st_mode) & ~run.modes.get(name, 0o644)
        wrong = run.results[name](content) or (extra and f"the mode has extra bits {extra:o}")
        if wrong:
            return f"{name}: {wrong}"
    return None


def loses_output(fault, where, folder):
    """Whether output may be lost, in which case the run must fail. Files are also opened for writing only to check
    them, and an error of close() is harmless there."""
    used = (" writing ",) if fault.startswith("close=") else (" writing ", " checking ")
    is_output = where.startswith("1 ") or any(use + folder + "/" in where for use in used)
    return LOSSES.fullmatch(fault) and is_output


def wrong_status(status, fault, lost):
    if status < 0:
        return f"died of {signal.Signals(-status).name}"
    if status not in (0, 1):
        return f"status {status}"
    if status != 0 and (not fault or HARMLESS.fullmatch(fault)):
        return f"status {status}, though no important call failed"
    if status == 0 and lost:
        return "status 0, though the output may be lost"
    return None


def judge(run, folder, status, output, fault, where):
    """The problem, or None. `where` is empty if the fault was not injected."""
    if not output:
        return f"hangs: still running after {TIMEOUT} s"
    stdout, stderr = output
    lost = loses_output(fault, where, folder)
    silent = where.startswith("2 ")  # the fault hit standard error itself
    return (wrong_status(status, fault if where else "", lost)
            or wrong_messages(f"gpuaes-{run.program}", status, stderr.decode(errors="replace"), silent)
            or (run.stdout(stdout, status == 0) if run.stdout else stdout and "unexpected output")
            or wrong_files(run, folder, status, lost))


def evict(file):
    """Removes a file from the page cache, as far as its file system allows."""
    file.flush()
    os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def execute(fixture, run, fault, environment=None):
    """`fault` is NAME:N, NAME:N+, or empty for none."""
    with tempfile.TemporaryDirectory(prefix="case.", dir=fixture.folder) as outside:
        record, folder = Record(os.path.join(outside, "record")), os.path.join(outside, "here")
        os.mkdir(folder)
        for name, content in run.files.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), 0o700, exist_ok=True)
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
                os.fchmod(file.fileno(), run.modes.get(name, 0o644))
                if run.uncached:
                    evict(file)
        injected = record.environment(fixture.fault_library, fault)
        status, output = run_program(fixture, run, folder, {**injected, **(environment or {})})
        entries = record.read()
        name = fault.rpartition(":")[0]
        entry = entries.get(name)
        where = (entry.where or "its call") if entry and entry.injected else ""
        wrong = judge(run, folder, status, output, name, where)
        stderr = output[1].decode(errors="replace") if output else ""
        return Outcome(wrong, status, where, stderr, entries)
