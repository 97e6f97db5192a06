"""Runs the programs and checks the form of their messages. conftest.py prepares the current directory and the key."""

import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

FOLDER = pathlib.Path(os.environ.get("GPUAES_PROGRAMS", "build")).resolve()
PATIENCE = 60  # seconds, for a program that should end
SANITIZER = 99  # the exit status of a sanitizer report

MESSAGE = re.compile(r"^gpuaes-[a-z]+: (?:(error|hint|warning): )?(.*)$")
SENTENCE = re.compile(r"[^A-Z ].*[^. ]$")  # lowercase, without a period


@dataclasses.dataclass
class Result:
    """What a program did. `error` and `hint` are the texts of these messages, or ""."""

    status: int
    out: bytes
    err: str
    error: str = ""
    hint: str = ""
    warnings: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)


def parse_messages(result):
    """Sorts the messages on standard error by kind, and checks that their number and form are right."""
    texts = {"error": [], "hint": [], "warning": [], None: []}
    for line in result.err.splitlines():
        found = MESSAGE.match(line)
        if not found:
            continue  # of another program, or the progress line
        kind, text = found.groups()
        texts[kind].append(text)
        assert kind is None or SENTENCE.match(text), f"expected a lowercase sentence without a period: {line}"
    assert len(texts["error"]) == (result.status in (1, 2, 3, 4)), f"status {result.status}: {result.err}"
    assert len(texts["hint"]) <= len(texts["error"]), f"expected at most one hint: {result.err}"
    result.error, result.hint = ("".join(texts[kind]) for kind in ("error", "hint"))
    result.warnings, result.notes = texts["warning"], texts[None]


def run(program, *options, status=0, input=b"", user=None, wrap=(), **popen):
    """Runs a program, which must exit with `status`, or with any if that is None. `user` is a User."""
    command = [*wrap, *(user.prefix if user else ()), (user.folder if user else FOLDER) / program, *options]
    if "stdin" not in popen:
        popen["input"] = input
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    done = subprocess.run(command, timeout=PATIENCE, **{**pipes, **popen})
    result = Result(done.returncode, done.stdout or b"", done.stderr.decode(errors="replace"))
    assert result.status != SANITIZER, f"{options}: {result.err}"
    assert status in (None, result.status), f"expected status {status}, got {result.status}: {options}: {result.err}"
    parse_messages(result)
    assert result.status != 2 or not result.out, f"expected no output with a usage error: {result.out[:100]}"
    return result


def stream(*options, **how):
    return run("gpuaes-stream", *options, **how)


def keygen(*options, **how):
    return run("gpuaes-keygen", *options, **how)


def parts(*options, **how):
    return run("gpuaes-parts", *options, **how)


def write_input(name, data):
    """Writes a file that was last modified long ago. Without this, a plan waits until it can detect the next change."""
    pathlib.Path(name).write_bytes(data)
    os.utime(name, (1_000_000_000, 1_000_000_000))


def plan(key, directory, *options, input=None, count=None, **how):
    """Makes the directory of a file in parts. Returns the result of the command."""
    options = [*options, *(["-i", input] if input else []), *(["-n", str(count)] if count else [])]
    return parts("plan", "-k", key, *options, "-o", directory, **how)


def seal(directory, part, *options, **how):
    return parts("seal", directory, "--part", str(part), *options, **how)


@contextlib.contextmanager
def slow_seal(directory, part, *options, written=b"", **popen):
    """A seal that is not complete, and has written something to its attempt. Its input is a pipe, with the bytes
    `written` so far, unless it reads the planned input."""
    command = [FOLDER / "gpuaes-parts", "seal", directory, "--part", str(part), "-b", "16K", *options]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, **popen)
    try:
        process.stdin.write(written)
        process.stdin.flush()
        end = time.monotonic() + PATIENCE
        while not any(size > 0 for size in attempts(directory).values()):
            assert process.poll() is None and time.monotonic() < end
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def attempts(directory):
    """The sizes of the incomplete files in a directory."""
    sizes = {}
    for name in os.listdir(directory):
        with contextlib.suppress(FileNotFoundError):
            if name.startswith("."):
                sizes[name] = os.stat(f"{directory}/{name}").st_size
    return sizes


def join(directory, *options, **how):
    return parts("join", directory, *options, **how)


def plan_and_seal(key, plain, count, directory, *options, file="plain"):
    """Makes a directory with all parts, which has not been joined, of the new file `file`."""
    write_input(file, plain)
    plan(key, directory, *options, input=file, count=count)
    for i in range(count):
        seal(directory, i, "-q")


def seal_in_parts(key, plain, count, name, *options):
    """Writes a sealed file made of `count` parts, in the current directory, with the steps of gpuaes-parts."""
    plan_and_seal(key, plain, count, f"{name}.parts", *options)
    join(f"{name}.parts", "-o", name)
    shutil.rmtree(f"{name}.parts")


def some_bytes(size):
    """Byte i is i mod 251, so all blocks differ, and so do chunks whose size is a power of two."""
    return (bytes(range(251)) * (size // 251 + 1))[:size]


class User:
    """A user other than root, with copies of the programs that this user can run."""

    def __init__(self, uid, group, folder):
        self.uid, self.group, self.folder = uid, group, folder
        self.prefix = ["setpriv", f"--reuid={uid}", f"--regid={uid}", f"--groups={group}"]

    def become(self):
        os.setgroups([self.group])
        os.setgid(self.uid)
        os.setuid(self.uid)

    @contextlib.contextmanager
    def repeating(self, action):
        """Calls `action` as this user, again and again, in another process. Errors of the system are ignored."""
        child = os.fork()
        if child == 0:
            self.become()
            while True:
                with contextlib.suppress(OSError):
                    action()
        try:
            yield
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def copy_programs():
    """A new folder with copies of the programs that any user can run."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gpuaes-programs-"))
    for name in ("gpuaes-stream", "gpuaes-keygen", "gpuaes-parts"):
        shutil.copy(FOLDER / name, folder)
    folder.chmod(0o755)
    return folder
