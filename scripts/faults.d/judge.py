"""Judges what a run with a fault did: its exit status, its messages, and the files that it left."""

import collections
import dataclasses
import os
import re
import signal
import stat

# Faults that the programs tolerate at any call.
HARMLESS = re.compile(
    r"(read|pread|write|pwrite|fsync|fdatasync|close|ftruncate|fallocate|poll|epoll_wait|waitpid)=EINTR|\w+=short"
    r"|(O_TMPFILE|O_DIRECT|preadv|mincore|mlock|madvise|posix_fadvise|sync_file_range|F_SETFL|fallocate_part)=\w+"
    r"|fallocate=EOPNOTSUPP|fcntl=EPERM|f(data)?sync=(EINVAL|EOPNOTSUPP|ENOSYS)|F_OFD_SETLK=\w+"
    r"|writev=(EINTR|EINVAL|EOPNOTSUPP|ENOMEM|EAGAIN)")

# Faults after which data may be lost, if they hit an output.
LOSSES = re.compile(r"(writev?|pwrite|fsync|fdatasync|close|ftruncate)=(EIO|ENOSPC|EDQUOT|ESTALE)")

# What a message says if a complete output is not kept, or has been written to its end.
NOT_KEPT = r"could not be kept|the output is complete"

REMOVALS = re.compile(r"(unlink|unlinkat|rmdir)=\w+")


@dataclasses.dataclass
class Injection:
    """A fault that was injected, and what had happened before. `calls_fsync`: at any time in the run."""
    fault: str
    where: str  # what it hit
    synced: int  # the number of files that had been written and synced
    target: int  # which of these files it hit, or -1
    named: frozenset  # the names that files had been given, without their folders
    calls_fsync: bool

    @property
    def name(self):
        return self.fault.rpartition(":")[0]

    @property
    def once(self):
        return not self.fault.endswith("+")


def loses_output(injection, folder):
    """Whether output may be lost, in which case the run must fail. Files are also opened for writing only to check or
    lock them, and an error of close() is harmless there."""
    used = (" writing ",) if injection.name.startswith("close=") else (" writing ", " checking ")
    where = injection.where
    is_output = where.startswith("1 ") or any(use + folder + "/" in where for use in used)
    is_lock = injection.name.startswith("close=") and re.search(r"/lock\.\d+$", where)
    return bool(LOSSES.fullmatch(injection.name) and is_output and not is_lock)


def is_harmless(run, injection):
    if HARMLESS.fullmatch(injection.name) or (run.tolerates and re.fullmatch(run.tolerates, injection.fault)):
        return True
    # A link can be used instead, and the other way round.
    return (re.fullmatch("renameat2=(EINVAL|EPERM|EACCES|EXDEV)", injection.name)
            and not any(fault.startswith("linkat=") for fault in run.without))


def wrong_status(run, status, injection, lost):
    if status < 0:
        return f"died of {signal.Signals(-status).name}"
    if status not in (0, 1):
        return f"status {status}"
    if status != 0 and (not injection or is_harmless(run, injection)):
        return f"status {status}, though no important call failed"
    if status == 0 and lost:
        return "status 0, though the output may be lost"
    return None


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


# Files ----------------------------------------------------------------------------------------------


def names_in(folder):
    """The files in a folder and in the folders in it, and those of these folders that are empty."""
    names = set()
    for path, folders, files in os.walk(folder):
        inner = os.path.relpath(path, folder)
        names |= {os.path.normpath(os.path.join(inner, name)) for name in files}
        if inner != "." and not folders and not files:
            names.add(inner + "/")
    return names


def kept_name(name):
    """Where the complete output `name` is kept if a later step fails."""
    folder, base = os.path.split(name)
    return os.path.join(folder, f".{base}.gpuaes-kept")


def read(folder, name):
    """The bytes and the permissions of a file."""
    path = os.path.join(folder, name)
    with open(path, "rb") as file:
        return file.read(), stat.S_IMODE(os.stat(path).st_mode)


def is_unclear(run, injection):
    """Whether a complete output may be kept, but need not: a file was synced, but cannot be closed; there is no memory
    between the steps; or nothing shows whether the input has changed."""
    if injection.name.startswith(("close=", "malloc=")):
        return True
    return run.checks_input and re.match(r"(l|f)?stat(at|x)?=", injection.name)


def wrong_kept(run, folder, there, stderr, injection, lost):
    """A complete output whose last step failed must be kept, unless its data may be lost."""
    main = kept_name(run.output or "")
    is_kept, in_place = main in there, os.path.basename(run.output or "") in injection.named
    lost_itself = lost and injection.target == run.synced_before
    complete = run.output and injection.synced > run.synced_before and not lost_itself
    synced_to_keep = injection.calls_fsync and not lost  # its access could not be set, which precedes the sync
    if not is_unclear(run, injection):
        if is_kept and not complete and not synced_to_keep and injection.once:
            return f"keeps {main}, though it may be incomplete"
        if complete and not in_place and not is_kept and injection.once:
            return f"does not keep {main}, though the output was complete and synced"
        if complete and not in_place and not is_kept and not re.search(NOT_KEPT, stderr):
            return "does not keep the complete output, and does not say that it is lost"
    for name in run.results:
        if kept_name(name) not in there:
            continue
        content, mode = read(folder, kept_name(name))
        wrong = run.results[name](content)
        if wrong:
            return f"{kept_name(name)}: {wrong}"
        if mode != 0o600:
            return f"{kept_name(name)} has the mode {mode:o}"
    return f"does not mention {main}" if is_kept and main not in stderr else None


def with_usual_names(run, folder, stderr):
    """Where nothing can be renamed, a kept output has its temporary name, which the message must mention. Gives it the
    usual one, in the folder and in the returned messages."""
    for name in run.results:
        kept = kept_name(name)
        found = re.search(re.escape(kept.removesuffix("kept")) + r"\w{6}\b", stderr)
        if found and os.path.exists(os.path.join(folder, found[0])):
            os.rename(os.path.join(folder, found[0]), os.path.join(folder, kept))
            stderr = stderr.replace(found[0], kept)
    return stderr


def allowed_leftovers(run, there, injection):
    """What a failed run, or one whose attempt to remove a file failed, may leave."""
    if not REMOVALS.fullmatch(injection.name):
        return set()
    hit = os.path.basename(injection.where)
    bases = {name: os.path.basename(name.rstrip("/")) for name in there}
    return {name for name, base in bases.items() if base == hit or (base.startswith(".") and not injection.once)}


def wrong_files(run, folder, status, stderr, injection, lost):
    """The working folder must have complete results, or the files from before the run. Only a run that fails after an
    output has got its name leaves that output."""
    if injection and not injection.once:
        stderr = with_usual_names(run, folder, stderr)
    there, whole, before = names_in(folder), set(run.results), set(run.files)
    if injection:
        there -= allowed_leftovers(run, there, injection) - whole
    if status != 0:
        wrong = wrong_kept(run, folder, there, stderr, injection, lost)
        if wrong:
            return wrong
        kept = {kept_name(name) for name in run.results} if run.output else set()
        there = {name for name in there - kept if not (run.keeps and re.fullmatch(run.keeps, name))}
    if not before - run.removes <= there <= before | whole or (status == 0 and (not whole <= there or run.removes & there)):
        return f"leaves the files {sorted(there)}; before, there were {sorted(before)}"
    for name in there:
        content, mode = read(folder, name)
        if content == run.files.get(name) and (status != 0 or name not in whole):
            continue
        if name not in whole:
            return f"changes {name}"
        if status != 0 and lost and len(run.results) == 1 and os.path.basename(name) not in injection.named:
            return f"leaves {name}, {len(content)} bytes, though a part of it may be lost"
        is_late = os.path.basename(name) in injection.named or not injection.once if injection else True
        if status != 0 and not is_late and name not in run.early and "the output is complete" not in stderr:
            return f"gives {name} its name, though the run failed before"
        extra = mode & ~run.modes.get(name, 0o644)
        wrong = run.results[name](content) or (extra and f"the mode has extra bits {extra:o}")
        if wrong:
            return f"{name}: {wrong}"
    return None


def judge(run, folder, status, output, injection):
    """The problem, or None. `injection` is None if there was no fault."""
    stdout, stderr = output[0], output[1].decode(errors="replace")
    lost = injection is not None and loses_output(injection, folder)
    silent = injection is not None and injection.where.startswith("2 ")  # the fault hit standard error itself
    return (wrong_status(run, status, injection, lost)
            or wrong_messages(run.program_name, status, stderr, silent)
            or (run.stdout(stdout, status == 0) if run.stdout else stdout and "unexpected output")
            or wrong_files(run, folder, status, stderr, injection, lost))
