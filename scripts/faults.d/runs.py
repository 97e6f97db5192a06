"""The short runs in which faults are injected, with the expected results of each."""

import os
import re
import subprocess
import tempfile

from execution import evict

IV = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
OLD = b"what was in the file before\n" * 5000


class Run:
    """One command line, run in a new folder. {name} in `arguments` stands for a program or a file of the fixture.

    stdin      the bytes on standard input, a pipe
    stdout     a check of standard output, or None if it must be empty
    files      files that exist in the folder before the run: name to bytes
    results    checks of the files that a successful run leaves there: name to check
    modes      modes of such files, if not 0644
    syncs      the number of calls of fsync() that make the results durable
    uncached   whether `files` are removed from the page cache before the run
    """

    def __init__(self, name, arguments, stdin=b"", stdout=None, files=None, results=None, modes=None,
                 program="stream", syncs=0, uncached=False):
        self.name, self.arguments, self.program = name, arguments, program
        self.stdin, self.stdout, self.syncs, self.uncached = stdin, stdout, syncs, uncached
        self.files, self.results, self.modes = files or {}, results or {}, modes or {}


class Fixture:
    """The programs, the fault library, and the input files that runs share."""

    def __init__(self, folder, build, size):
        self.folder = folder
        self.programs = {name: os.path.abspath(f"{build}/{name}") for name in ("gpuaes-stream", "gpuaes-keygen", "gpuaes-parts")}
        self.fault_library = os.path.abspath(f"{build}/tests/libfaults.so")
        for path in (*self.programs.values(), self.fault_library):
            if not os.path.exists(path):
                raise SystemExit(f"faults: {path} does not exist: build first, with BUILD_TESTING on")
        self.environment = {**os.environ, "LC_ALL": "C"}
        self.plain = os.urandom(size)
        self.make_files()
        self.has_direct_reads = self.reads_directly()

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name, content):
        with open(os.open(self.path(name), os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(content)
        return content

    def make_files(self):
        self.make("plain", self.plain)
        self.make("words", b"correct horse battery staple\n")
        for name in ("key", "new"):
            self.make(name, os.urandom(32))
        self.make("recipient", self.call("{keygen} --x25519 -o {identity}"))
        self.sealed = self.make("sealed", self.call("{stream} -q -k {key}", self.plain))
        self.call("{parts} plan -k {key} -o {job}")
        for number in "01":
            self.call(f"{{parts}} seal --job {{job}} --part {number}/2 -i {{plain}} -o {{part{number}}}")
        self.raw = self.call(f"{{stream}} -q -f raw --iv {IV} -k {{key}}", self.plain)

    def expand(self, line):
        """The words of a command line, with each {name} replaced by the path of that program or file."""
        def path(found):
            return self.programs.get(f"gpuaes-{found[1]}", self.path(found[1]))
        return [re.sub(r"\{(\w+)\}", path, word) for word in line.split()]

    def call(self, line, stdin=b""):
        """Standard output of a command that runs without a fault, or None if it fails."""
        done = subprocess.run(self.expand(line), input=stdin, env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        return done.stdout if done.returncode == 0 else None

    def reads_directly(self):
        """Whether the file system is on a disk and has direct reads, and files can be removed from the page cache."""
        self.make("uncached", self.plain)
        try:
            os.close(os.open(self.path("uncached"), os.O_RDONLY | os.O_DIRECT))
            with open(self.path("uncached"), "rb") as file:
                evict(file)
                os.preadv(file.fileno(), [bytearray(1)], 0, os.RWF_NOWAIT)
        except BlockingIOError:  # not in the page cache
            return os.major(os.stat(self.folder).st_dev) != 0
        except OSError:
            pass
        return False

    # Checks return what is wrong with the bytes, or None. `whole` is False for the output of a failed run, which may be
    # only the beginning of the expected output.

    @staticmethod
    def same(expected):
        def check(content, whole=True):
            if content == expected if whole else expected.startswith(content):
                return None
            return f"{len(content)} bytes differ from the {len(expected)} expected"
        return check

    def opens(self, options):
        def check(content, whole=True):
            if not whole:
                return None
            opened = self.call("{stream} -q -d -l cpu:1 " + options, content)
            return None if opened == self.plain else f"{len(content)} bytes do not open to what was sealed"
        return check

    def joins(self, options):
        def check(content, whole=True):
            if not whole:
                return None
            with tempfile.NamedTemporaryFile(dir=self.folder) as part:
                part.write(content)
                part.flush()
                joined = self.call(f"{{parts}} join --job {{job}} {part.name} {options}")
            opened = joined and self.call("{stream} -q -d -k {key}", joined)
            return None if opened == self.plain else "the part cannot be joined"
        return check

    @staticmethod
    def sized(size):
        def check(content, whole=True):
            return None if len(content) == size or not whole else f"{len(content)} bytes instead of {size}"
        return check

    @staticmethod
    def begins(expected):
        def check(content, whole=True):
            good = content.startswith(expected) and content.endswith(b"\n") if whole else True
            return None if good else f"unexpected content, {len(content)} bytes"
        return check


def system_runs(fixture):
    """Runs on CPU lanes."""
    sealed, plain = fixture.opens("-k {key}"), fixture.same(fixture.plain)
    lanes = "-l cpu:2 -b 64K"
    direct = "-l cpu:2 -b 256K"  # smaller chunks are not read directly
    return [
        Run("seal-pipe", "-k {key} -b 64K", stdin=fixture.plain, stdout=sealed),
        Run("seal-over", f"-k {{key}} {lanes} -i {{plain}} -o out", files={"out": OLD}, results={"out": sealed},
            modes={"out": 0o640}, syncs=2),
        Run("open-new", f"-d -k {{key}} {lanes} -i {{sealed}} -o out", results={"out": plain}, syncs=2),
        Run("rekey", "--rekey -k {key} --new-key {new} -i out", files={"out": fixture.sealed},
            results={"out": fixture.opens("-k {new}")}, modes={"out": 0o640}, syncs=2),
        Run("keygen", "-o out", results={"out": fixture.begins(b"")}, modes={"out": 0o600}, program="keygen", syncs=2),
        Run("open-pipe", f"-d -k {{key}} {lanes}", stdin=fixture.sealed, stdout=plain),
        Run("seal-new", f"-k {{key}} {lanes} -i {{plain}} -o out", results={"out": sealed}, syncs=2),
        Run("raw-file", f"-f raw --iv {IV} -k {{key}} {lanes} -i {{plain}}", stdout=fixture.same(fixture.raw)),
        Run("raw-pipe", f"-f raw --iv {IV} -k {{key}} {lanes}", stdin=fixture.plain, stdout=fixture.same(fixture.raw)),
        Run("test", f"--test -k {{key}} {lanes} -i {{sealed}}"),
        Run("range", f"-d --range 100K:50K -k {{key}} {lanes} -i {{sealed}}",
            stdout=fixture.same(fixture.plain[100 << 10:150 << 10])),
        Run("passphrase", f"-f openssl --passphrase-file {{words}} {lanes} -i {{plain}}",
            stdout=fixture.opens("-f openssl --passphrase-file {words}")),
        Run("recipient", f"-r @{{recipient}} {lanes}", stdin=fixture.plain,
            stdout=fixture.opens("-k {identity}")),
        Run("identity", "--x25519 -o out", stdout=fixture.begins(b"gpuaes1"), program="keygen",
            results={"out": fixture.begins(b"")}, modes={"out": 0o600}, syncs=2),
        Run("reports", f"-k {{key}} {lanes} -i {{plain}} -o out --stats stats --trace trace",
            results={"out": sealed, "stats": fixture.begins(b"{"), "trace": fixture.begins(b"{")}, syncs=4),
        Run("seal-command", f"-k {{key}} {lanes} -o out -- cat {{plain}}", results={"out": sealed}, syncs=2),
        Run("plan", "plan -k {key} -o out", results={"out": fixture.sized(201)}, modes={"out": 0o600}, program="parts",
            syncs=2),
        Run("seal-part", f"seal --job {{job}} --part 0 {lanes} -o out", stdin=fixture.plain, program="parts",
            results={"out": fixture.joins("--count 1")}, syncs=2),
        Run("seal-share", f"seal --job {{job}} --part 0/1 -i {{plain}} {lanes} -o out --receipt receipt", program="parts",
            results={"out": fixture.joins(""), "receipt": fixture.sized(104)}, syncs=4),
        Run("join", "join --job {job} {part1} {part0} -o out", program="parts", results={"out": sealed}, syncs=2),
        Run("seal-uncached", f"-k {{key}} {direct} -i in", files={"in": fixture.plain}, results={"in": plain},
            stdout=sealed, uncached=True),
        Run("open-uncached", f"-d -k {{key}} {direct} -i in", files={"in": fixture.sealed},
            results={"in": fixture.same(fixture.sealed)}, stdout=plain, uncached=True),
        Run("info", "--info --json", stdin=fixture.sealed, stdout=fixture.begins(b"{")),
    ]


def device_runs(fixture):
    """Runs on the first CUDA device, alone and with CPU lanes."""
    runs = []
    for name, lanes in (("gpu", "-l cuda:0:2 -b 64K"), ("gpu+cpu", "-l cuda:0:2+cpu:1 -b 16K")):
        runs += [
            Run(f"raw-file/{name}", f"-f raw --iv {IV} -k {{key}} {lanes} -i {{plain}}", stdout=fixture.same(fixture.raw)),
            Run(f"seal-pipe/{name}", f"-k {{key}} {lanes}", stdin=fixture.plain, stdout=fixture.opens("-k {key}")),
            Run(f"open-pipe/{name}", f"-d -k {{key}} {lanes}", stdin=fixture.sealed, stdout=fixture.same(fixture.plain)),
        ]
    return runs
