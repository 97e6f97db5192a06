"""Executes one run with one fault."""

import collections
import contextlib
import fcntl
import os
import struct
import subprocess
import tempfile

from judge import Injection, judge
from programs import make_folder

PIPE_BYTES = 1 << 20  # holds the input of each run
TIMEOUT = 30  # seconds, enough for a busy machine; a run that takes longer is considered hung

# wrong: the problem, or None. where: what the fault hit, empty if it was not injected. record: all calls.
Outcome = collections.namedtuple("Outcome", "wrong status where stderr record")

LAYOUT = struct.Struct("=56sQQQq256s96s")  # Entry in tests/faults/record.hpp
CAPACITY = 1024
Entry = collections.namedtuple("Entry", "calls injected synced target where named")


def text_of(field):
    return field.split(b"\0", 1)[0].decode(errors="replace")


def read_record(path):
    """The fault library's record of a process, by the fault's name: the calls that it could hit, and those that it hit."""
    entries = {}
    with open(path, "rb") as file:
        while chunk := file.read(LAYOUT.size):
            name, calls, injected, synced, target, where, named = LAYOUT.unpack(chunk)
            if not text_of(name):
                break
            entries[text_of(name)] = Entry(calls, injected, synced, target, text_of(where), text_of(named))
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


def evict(path):
    """Removes a file from the page cache, as far as its file system allows."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def injection_of(fault, entries):
    """None if the fault was not injected."""
    entry = entries.get(fault.rpartition(":")[0])
    if not entry or not entry.injected:
        return None
    named = frozenset(filter(None, entry.named.split(",")))
    calls_fsync = any(each.calls for name, each in entries.items() if name.startswith("fsync="))
    return Injection(fault, entry.where or "its call", entry.synced, entry.target, named, calls_fsync)


def execute(fixture, run, fault, environment=None):
    """`fault` is NAME:N, NAME:N+, or empty for none."""
    with tempfile.TemporaryDirectory(prefix="case.", dir=fixture.folder) as outside:
        record, folder = os.path.join(outside, "record"), os.path.join(outside, "here")
        with open(record, "wb") as file:
            file.truncate(CAPACITY * LAYOUT.size)
        make_folder(folder, run.files, run.modes)
        for name in run.files if run.uncached else []:
            evict(os.path.join(folder, name))
        injected = fixture.injecting([*run.without, *([fault] if fault else [])], record)
        status, output = run_program(fixture, run, folder, {**injected, **(environment or {})})
        entries = read_record(record)
        injection = injection_of(fault, entries)
        wrong = judge(run, folder, status, output, injection) if output else f"hangs: still running after {TIMEOUT} s"
        stderr = output[1].decode(errors="replace") if output else ""
        return Outcome(wrong, status, injection.where if injection else "", stderr, entries)
