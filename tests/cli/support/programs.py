"""Runs the programs and checks the form of their messages. conftest.py prepares the current directory and the key."""

import atexit
import contextlib
import dataclasses
import functools
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import tempfile

import pytest

FOLDER = pathlib.Path(os.environ.get("GPUAES_PROGRAMS", "build")).resolve()
AGAIN_OR_SALVAGE = "copy or download it again, or use --salvage to recover the undamaged parts"
INSTALLED = not (FOLDER / "CMakeCache.txt").exists()  # from a package
HAS_BENCH = (FOLDER / "gpuaes-bench").exists()  # it is neither in the packages nor built by scripts/quickstart
BATCH_DRIVER = FOLDER / "batch_driver"  # built with the tests
WITH_ML_KEM = pathlib.Path(__file__).parents[2] / "support/with-ml-kem"
SANITIZED = bool(os.environ.get("GPUAES_SANITIZED"))
COVERAGE = bool(os.environ.get("GPUAES_COVERAGE"))  # the programs count branches
PATIENCE = 200 if SANITIZED else 60  # seconds, for a program that should end
SANITIZER = 99  # the exit status of a sanitizer report
LARGEST = 1 << 30  # bytes: what a program with an endless input may write to a file

KEY = bytes(range(32))  # what the fixture `key` contains
IV = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
RAW = ("-f", "raw", "--iv", IV, "-q")

# Signals that end the programs like SIGTERM.
STOP_SIGNALS = [getattr(signal, f"SIG{name}")
                for name in "INT TERM HUP QUIT XCPU ALRM USR2 VTALRM PROF PWR IO STKFLT".split()]

MESSAGE = re.compile(r"^(?:gpuaes-[a-z]+|gpuage(?:-keygen)?): (?:(error|hint|warning): )?(.*)$")
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


def parse_messages(result, shows_progress):
    """Sorts the messages on standard error by kind, and checks that their number and form are right. If the program
    fails, only progress may be printed in addition."""
    texts = {"error": [], "hint": [], "warning": [], None: []}
    for line in result.err.splitlines():
        found = MESSAGE.match(line)
        assert found or shows_progress or result.status == 0, f"expected only messages, got {line}"
        if not found:
            continue
        kind, text = found.groups()
        texts[kind].append(text)
        assert kind is None or SENTENCE.match(text), f"expected a lowercase sentence without a period: {line}"
    assert len(texts["error"]) == (result.status in (1, 2, 3, 4)), f"status {result.status}: {result.err}"
    assert len(texts["hint"]) <= len(texts["error"]), f"expected at most one hint: {result.err}"
    result.error, result.hint = ("".join(texts[kind]) for kind in ("error", "hint"))
    result.warnings, result.notes = texts["warning"], texts[None]


def find(program, folder=FOLDER):
    if program == "gpuaes-bench" and not HAS_BENCH:
        pytest.skip(f"{FOLDER} has no gpuaes-bench")
    return folder / program


def run(program, *options, status=0, input=b"", via="pipe", user=None, wrap=(), **popen):
    """Runs a program, which must exit with `status`, with one of them if there are several, or with any of its statuses if
    that is None. Standard input is a pipe, a file if `via` is "file", or `stdin`. `user` is a User, `wrap` a command that
    executes the program."""
    if via == "file" and "stdin" not in popen:
        with tempfile.TemporaryFile() as file:
            file.write(input)
            file.seek(0)
            return run(program, *options, status=status, user=user, wrap=wrap, stdin=file, **popen)
    command = [*wrap, *(user.prefix if user else ()), find(program, user.folder if user else FOLDER), *options]
    if "stdin" not in popen:
        popen["input"] = input
    defaults = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": PATIENCE}
    done = subprocess.run(command, **{**defaults, **popen})
    result = Result(done.returncode, done.stdout or b"", (done.stderr or b"").decode(errors="replace"))
    return check(result, options, status)


def check(result, options, status):
    """Checks what is true of each run: its exit status, and the form of its messages."""
    assert result.status != SANITIZER, f"{options}: {result.err}"
    allowed = range(5) if status is None else [status] if isinstance(status, int) else status
    assert result.status in allowed, f"expected status {allowed}, got {result.status}: {options}: {result.err}"
    shows_progress = "\r" in result.err or "-P" in options or "--progress" in options
    parse_messages(result, shows_progress)
    assert result.status != 2 or not result.out, f"expected no output with a usage error: {result.out[:100]}"
    return result


def stream(*options, **how):
    return run("gpuaes-stream", *options, **how)


def raw(key, *options, **how):
    """Encrypts or decrypts in raw format, with IV."""
    return stream(*RAW, "-k", key, *options, **how)


class Batch:
    """Runs gpuaes-stream in one process for many command lines, each many times faster than stream(); see
    tests/support/batch_driver.cpp. Not for options that name lanes of GPUs."""

    def __init__(self):
        request, reply = os.pipe(), os.pipe()
        ends = request[0], reply[1]
        nowhere = {name: subprocess.DEVNULL for name in ("stdin", "stdout", "stderr")}
        self.process = subprocess.Popen([BATCH_DRIVER, *map(str, ends)], pass_fds=ends, umask=0o022, **nowhere)
        os.close(request[0])
        os.close(reply[1])
        self.request, self.reply = os.fdopen(request[1], "wb"), os.fdopen(reply[0], "rb")
        atexit.register(self.process.kill)

    def stream(self, *options, status=0, input=b"", via="pipe"):
        words = [os.fsencode(str(option)) for option in options]
        request = struct.pack("=I", len(words)) + b"".join(struct.pack("=I", len(word)) + word for word in words)
        try:
            self.request.write(request + struct.pack("=IQ", via == "file", len(input)) + input)
            self.request.flush()
        except BrokenPipeError:
            self.fail(options)
        code, = struct.unpack("=I", self.receive(4, options))
        out, err = (self.receive(struct.unpack("=Q", self.receive(8, options))[0], options) for _ in range(2))
        return check(Result(code, out, err.decode(errors="replace")), options, status)

    def receive(self, size, options):
        got = self.reply.read(size)
        return got if len(got) == size else self.fail(options)

    def fail(self, options):
        pytest.fail(f"the batch driver ended with {self.process.wait(PATIENCE)}: {options}")

    def close(self):
        """Ends the driver, which must exit with 0."""
        with contextlib.suppress(BrokenPipeError):
            self.request.close()
        assert self.process.wait(PATIENCE) == 0, f"the batch driver ended with {self.process.returncode}"
        self.reply.close()


def spread(cases, count=10):
    """At most that many of the cases, evenly spaced."""
    cases = list(cases)
    return cases[:: -(-len(cases) // count) or 1]


def each_way(batch, cases):
    """Pairs each case with a way to run it: ten of them with stream(), the others in the batch driver."""
    cases = list(cases)
    through_program = {id(case) for case in spread(cases)}
    return [(stream if id(case) in through_program else batch.stream, case) for case in cases]


def ignore_here(*signals):
    """Ignores these signals in this process, but not in the programs that it starts: they do not inherit handlers."""
    for number in signals:
        signal.signal(number, lambda *_: None)


def limit_files():
    """Limits the files that this process and the programs that it starts can write."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST if hard == resource.RLIM_INFINITY else min(LARGEST, hard), hard))


@contextlib.contextmanager
def larger_files():
    """Allows this process to make sparse files beyond that limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def start(program, *options, ignore=(), wrap=(), **popen):
    """Starts a program in the background, which ignores the signals in `ignore`. It is killed at the end of the test."""
    def ignore_signals():
        for number in ignore:
            signal.signal(number, signal.SIG_IGN)

    nowhere = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    child = subprocess.Popen([*wrap, find(program), *options], preexec_fn=ignore_signals, **{**nowhere, **popen})
    started.append(child)
    return child


started = []  # processes that the current test has started


def start_raw(key, *options, **popen):
    return start("gpuaes-stream", *RAW, "-k", key, *options, **popen)


def secret_file(name, content):
    """Writes a file that only its owner can read, and returns its name."""
    with open(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    return str(name)


def script(name, text):
    """Writes a program, for sh if its first line names no other, and makes its folder."""
    path = pathlib.Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def openssl_ctr(data, key=KEY, iv=IV):
    """The data, encrypted by openssl as raw() does it."""
    command = ["openssl", "enc", f"-aes-{8 * len(key)}-ctr", "-K", key.hex(), "-iv", iv, "-nosalt"]
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


def lanes():
    """The lanes to test: one and several of each kind."""
    return ["cpu:1", "cpu:3", *(["cuda:0:1", "cuda:0:3"] if has_cuda() else [])]


# A regular expression: the error if CUDA is needed, and there is no device.
NO_CUDA = "this program was built without CUDA|no NVIDIA driver is installed|no CUDA device is available: .*"


@functools.cache
def has_cuda():
    return re.search(rb"^cuda:[0-9]", stream("--list-lanes", status=None).out, re.M) is not None


def sparse(name, size):
    """Makes a file of zeros that takes no space."""
    with open(name, "wb") as file:
        file.truncate(size)


def append(name, data):
    with open(name, "ab") as file:
        file.write(data)


def overwrite(name, at, data):
    """Writes into a file, at an offset from its end if that is negative."""
    with open(name, "r+b") as file:
        file.seek(at, os.SEEK_END if at < 0 else os.SEEK_SET)
        file.write(data)


def content(name):
    return pathlib.Path(name).read_bytes()


def files_here():
    return sorted(os.listdir())


def expect_same(want, got, what=""):
    """Compares long byte strings without printing them."""
    if want != got:
        at = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
        pytest.fail(f"{what}: expected {len(want)} bytes, got {len(got)}; the first difference is at byte {at}")


# Hints.
AN_IDENTITY = ("restore it from a copy; a new one, from gpuaes-keygen --x25519 or --post-quantum, does not open existing "
               "files")
NOT_ENCRYPTED = ("it is not encrypted, or is an incomplete or converted download; if it was encrypted with -f, use the "
                 "same -f")
OTHER_KEYS = ("to find the one that does, try several at once, with -k A -k B -v; --info lists the slots, and --header takes a "
              "copy of a damaged header")
OTHER_SECRETS = "the input was encrypted with other secrets, or its header is damaged; --info lists its slots"
REPEAT_K = "name each key or identity file with a -k of its own; in -k *.key, only the first file is a key"


def keygen(*options, **how):
    return run("gpuaes-keygen", *options, **how)


def parts(*options, **how):
    return run("gpuaes-parts", *options, **how)


def some_bytes(size):
    """Byte i is i mod 251, so all blocks differ, and so do chunks whose size is a power of two."""
    return (bytes(range(251)) * (size // 251 + 1))[:size]


def flipped(data, *offsets, bit=0):
    """The data with one bit of each of these bytes changed."""
    changed = bytearray(data)
    for at in offsets:
        changed[at] ^= 1 << bit
    return bytes(changed)


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
