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


def seal_in_parts(key, plain, count, name):
    """Writes a sealed file made of `count` parts, in the current directory, with the steps of gpuaes-parts."""
    pathlib.Path("plain").write_bytes(plain)
    names = [f"part{i}" for i in range(count)]
    parts("plan", "-k", key, "-o", "job")
    for i, part in enumerate(names):
        parts("seal", "--job", "job", "--part", f"{i}/{count}", "-i", "plain", "-o", part)
    parts("join", "--job", "job", *names, "-o", name)


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
