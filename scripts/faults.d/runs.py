"""The short runs in which faults are injected, with the expected results of each."""

import dataclasses
import os
import subprocess
import tempfile
import typing

from execution import evict
from programs import LINKLESS, NAMED, OLD, Programs, full_name, make_folder

IV = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
LARGE_BYTES = (72 << 20) + 12345

# Faults that a run must tolerate, with the numbers of the calls. The tests' files have the right owner and group, and no
# ACL. A new file without a name has the right mode; one with a temporary name has a stricter one.
ACCESS = r"(fchown=\w+|fgetxattr=EOPNOTSUPP|fremovexattr=(EOPNOTSUPP|EPERM)):.*"
MODE = r"|fchmod=\w+:.*"
PROBE = r"|linkat=\w+:1\+?"  # with an output of unknown size, names are tried first

# File systems that lack more: exFAT, which has hardly anything; no renames, as in some sandboxes; no locks, as on Lustre.
PLAIN = (NAMED, LINKLESS, "renameat2=EINVAL:1+", "fchmod=EPERM:1+", "fchown=EPERM:1+", "fsetxattr=EOPNOTSUPP:1+",
         "fremovexattr=EOPNOTSUPP:1+", "fgetxattr=EOPNOTSUPP:1+")
RENAMELESS = "any_rename=EPERM:1+"
LOCKLESS = "F_OFD_SETLK=ENOSYS:1+"

# The calls at the end of a run. On these file systems, only they are made to fail.
END = r"(any_\w+|linkat|renameat2?|unlink(at)?|fsync|fchmod|fchown|f(set|remove|get)xattr|fstat(at)?|statx|getentropy)="

# The calls with which a large output is written directly to the disk.
LARGE = r"(writev\w*|fallocate\w*|F_SETFL|ftruncate|fsync|lseek|fstatfs|statx)="


@dataclasses.dataclass
class Run:
    """One command line, run in a new folder. {name} in `arguments` stands for a program or a file of the fixture."""
    name: str
    arguments: str
    program: str = "stream"
    stdin: bytes = b""  # a pipe
    stdout: typing.Callable = None  # a check of standard output, or None if it must be empty
    files: dict = dataclasses.field(default_factory=dict)  # that exist in the folder before the run: name to bytes
    results: dict = dataclasses.field(default_factory=dict)  # checks of files that a successful run leaves, by name
    removes: frozenset = frozenset()  # files that a successful run removes
    keeps: str = None  # a regular expression for names of files that a failed run may leave, for the next attempt
    modes: dict = dataclasses.field(default_factory=dict)  # of these files, if not 0644
    uncached: bool = False  # whether `files` are removed from the page cache before the run
    early: frozenset = frozenset()  # results that a run may leave that fails before or after
    output: str = None  # the result that is kept if it is complete when a step fails
    synced_before: int = 0  # files that are synced before that output
    checks_input: bool = False  # whether the program finally checks that the input has not changed
    tolerates: str = None  # a regular expression for faults, with the number of the call, that this run must tolerate
    without: tuple = ()  # faults at all calls, for a file system that does not support something
    only: str = ""  # a regular expression for the beginnings of the faults to inject

    @property
    def program_name(self):
        return full_name(self.program)


class Fixture(Programs):
    """The input files that runs share."""

    def __init__(self, folder, build, size):
        super().__init__(folder, build)
        self.environment = {**os.environ, "LC_ALL": "C"}
        self.plain = os.urandom(size)
        self.make_files()
        self.has_direct_reads = self.reads_directly()

    def make_files(self):
        self.make("plain", self.plain)
        with open(self.path("large"), "wb") as large:
            large.truncate(LARGE_BYTES)
        self.make("words", b"correct horse battery staple\n")
        for name in ("key", "new"):
            self.make(name, os.urandom(32))
        self.call("{keygen} --x25519 -o {identity}")
        self.sealed = self.make("sealed", self.call("{stream} -q -k {key}", self.plain))
        self.age = self.call("{stream} -q -R {identity}.pub", self.plain)
        os.utime(self.path("plain"), (0, 0))  # otherwise, plan waits until it has been unchanged for some time
        self.call("{parts} plan -k {key} -i {plain} -n 2 -o {planned}")
        self.call("{parts} plan -k {key} -n 1 -o {planned_pipe}")
        self.planned, self.planned_pipe = self.read_folder("planned"), self.read_folder("planned_pipe")
        for number in "01":
            self.call(f"{{parts}} seal {{planned}} --part {number}")
        self.complete = self.read_folder("planned")
        self.call("{parts} join {planned}")
        os.rename(self.path("planned"), self.path("joined"))
        self.joined = self.read_folder("joined")
        self.raw = self.call(f"{{stream}} -q -f raw --iv {IV} -k {{key}}", self.plain)

    def read_folder(self, name):
        """The files of a folder, as those of the folder `d` of a run."""
        def read(file):
            with open(os.path.join(self.path(name), file), "rb") as opened:
                return opened.read()
        return {f"d/{file}": read(file) for file in os.listdir(self.path(name))}

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
            evict(self.path("uncached"))
            with open(self.path("uncached"), "rb") as file:
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

    def opens_large(self, content, whole=True):
        opened = self.call("{stream} -q -d -k {key}", content) if whole else None
        return None if not whole or opened == bytes(LARGE_BYTES) else f"{len(content)} bytes do not open to what was sealed"

    def completes(self, name, files, key="key"):
        """The file `name` completes a joined directory that otherwise has these files."""
        def check(content, whole=True):
            there = {**files, name: content}
            order = ["d/head", *sorted(each for each in there if each.startswith("d/part.")), "d/index"]
            return self.opens(f"-k {{{key}}}")(b"".join(there[each] for each in order))
        return check

    def joins(self, name, files):
        """The file `name` completes a directory of two parts, or, with another plan, of one, that can be joined."""
        def check(content, whole=True):
            there = {**files, name: content}
            with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                make_folder(f"{folder}/of", there, dict.fromkeys(there, 0o600))
                joined = self.call(f"{{parts}} join -q {folder}/of/d -o -")
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


FILE_SYSTEMS = (
    ("named", (NAMED,), ("seal-over", "open-new", "rekey", "reports", "seal-part", "seal-elsewhere", "join")),
    ("linkless", (LINKLESS,), ("seal-command", "seal-pipe-part")),
    ("plain", PLAIN, ("seal-over", "open-new", "rekey", "reports", "seal-elsewhere")),
    ("renameless", (RENAMELESS,), ("seal-command", "reports", "seal-part", "join")),
    ("lockless", (LOCKLESS,), ("open-into",)),
)


def system_runs(fixture):
    """Runs on CPU lanes."""
    secret = {"d/job": 0o600}
    others = {name: content for name, content in fixture.complete.items() if name != "d/part.0000001"}
    sealed, plain = fixture.opens("-k {key}"), fixture.same(fixture.plain)
    lanes = "-l cpu:2 -b 64K"
    direct = "-l cpu:2 -b 256K"  # smaller chunks are not read directly
    runs = [
        Run("seal-pipe", "-k {key} -b 64K", stdin=fixture.plain, stdout=sealed),
        Run("seal-over", f"-k {{key}} {lanes} -i {{plain}} -o out", files={"out": OLD}, results={"out": sealed},
            modes={"out": 0o640}, output="out", tolerates=ACCESS),
        Run("open-new", f"-d -k {{key}} {lanes} -i {{sealed}} -o out", results={"out": plain}, output="out",
            tolerates=ACCESS + MODE),
        Run("rekey", "--rekey -q -k {key} --new-key {new} -i out", files={"out": fixture.sealed},
            results={"out": fixture.opens("-k {new}")}, modes={"out": 0o640}, output="out", checks_input=True, tolerates=ACCESS),
        Run("keygen", "-o out", results={"out": fixture.begins(b"")}, modes={"out": 0o600}, program="keygen"),
        Run("open-pipe", f"-d -k {{key}} {lanes}", stdin=fixture.sealed, stdout=plain),
        Run("seal-new", f"-k {{key}} {lanes} -i {{plain}} -o out", results={"out": sealed}, output="out",
            tolerates=ACCESS + MODE),
        Run("raw-file", f"-f raw --iv {IV} -k {{key}} {lanes} -i {{plain}}", stdout=fixture.same(fixture.raw)),
        Run("raw-pipe", f"-f raw --iv {IV} -k {{key}} {lanes}", stdin=fixture.plain, stdout=fixture.same(fixture.raw)),
        Run("test", f"--test -k {{key}} {lanes} -i {{sealed}}"),
        Run("range", f"-d --range 100K:50K -k {{key}} {lanes} -i {{sealed}}",
            stdout=fixture.same(fixture.plain[100 << 10:150 << 10])),
        Run("passphrase", f"-f openssl --passphrase-file {{words}} {lanes} -i {{plain}}",
            stdout=fixture.opens("-f openssl --passphrase-file {words}")),
        Run("recipient", f"-R {{identity}}.pub {lanes}", stdin=fixture.plain,
            stdout=fixture.opens("-k {identity}")),
        Run("age-command", "-R {identity}.pub -o out {plain}", results={"out": fixture.opens("-k {identity}")},
            program="gpuage", output="out", tolerates=ACCESS + MODE),
        Run("identity", "--x25519 -o out", stdout=fixture.begins(b"age1"), program="keygen",
            results={"out": fixture.begins(b"# created: "), "out.pub": fixture.begins(b"age1")}, modes={"out": 0o600}),
        Run("reports", f"-k {{key}} {lanes} -i {{plain}} -o out --stats stats --trace trace",
            results={"out": sealed, "stats": fixture.begins(b"{"), "trace": fixture.begins(b"{")},
            output="out", tolerates=ACCESS + MODE, early=frozenset(["trace"])),
        Run("seal-command", f"-k {{key}} {lanes} -o out -- cat {{plain}}", results={"out": sealed}, output="out",
            tolerates=ACCESS + MODE + PROBE),
        Run("plan", "plan -k {key} -i {plain} -n 2 -o d", stdout=fixture.same(b"2\n"), program="parts", modes=secret,
            results={"d/head": fixture.sized(119), "d/job": fixture.sized(len(fixture.planned["d/job"]))}),
        Run("seal-part", f"seal d --part 1 {lanes} --verify", files=others, modes=secret,
            results={"d/part.0000001": fixture.joins("d/part.0000001", fixture.complete)},
            program="parts", output="d/part.0000001", checks_input=True, tolerates=ACCESS + MODE),
        Run("seal-pipe-part", f"seal d --part 0 {lanes}", stdin=fixture.plain, files=fixture.planned_pipe, modes=secret,
            results={"d/part.0000000": fixture.joins("d/part.0000000", fixture.planned_pipe)},
            program="parts", output="d/part.0000000", tolerates=ACCESS + MODE + PROBE),
        Run("seal-elsewhere", f"seal d --part 1 {lanes} -o out --receipt receipt", files=fixture.planned, modes=secret,
            results={"out": fixture.joins("d/part.0000001", fixture.complete), "receipt": fixture.sized(104)},
            program="parts", output="out", checks_input=True, tolerates=ACCESS + MODE),
        Run("seal-again", f"seal d --part 1 -q {lanes}", files=fixture.complete, modes=secret, program="parts"),
        Run("status", "status d", stdout=fixture.begins(b"parts     2\n"), files=fixture.planned, modes=secret,
            program="parts"),
        Run("join", "join d -o out", files=fixture.complete, modes=secret, removes=frozenset(["d/job"]), program="parts",
            results={"d/index": fixture.completes("d/index", fixture.complete), "out": sealed},
            output="out", synced_before=1, early=frozenset(["d/index"]), tolerates=ACCESS + MODE),
        Run("open-parts", f"-d -k {{key}} {lanes} {{joined}}", stdout=plain),
        Run("open-part", f"-d -k {{key}} --part 1 {lanes} {{joined}}",
            stdout=fixture.same(fixture.plain[(len(fixture.plain) // 16384 + 2) // 2 * 16384:])),
        Run("rekey-parts", "--rekey -q -k {key} --new-key {new} d", files=fixture.joined,
            results={"d/head": fixture.completes("d/head", fixture.joined, "new")},
            output="d/head", checks_input=True, tolerates=ACCESS),
        Run("seal-large", "-k {key} -b 8M -i {large} -o out", results={"out": fixture.opens_large}, output="out",
            tolerates=ACCESS + MODE, only=LARGE),
        Run("seal-large-command", "-k {key} -b 8M -o out -- cat {large}", results={"out": fixture.opens_large},
            output="out", tolerates=ACCESS + MODE + PROBE, only=LARGE),
        Run("open-into", f"-d -k {{key}} --share 0/1 --into out {lanes} {{sealed}}", results={"out": plain},
            keeps=r"out\.\w+-1/(data|lock\.0|done\.0)?"),
        Run("seal-uncached", f"-k {{key}} {direct} -i in", files={"in": fixture.plain}, results={"in": plain},
            stdout=sealed, uncached=True),
        Run("open-uncached", f"-d -k {{key}} {direct} -i in", files={"in": fixture.sealed},
            results={"in": fixture.same(fixture.sealed)}, stdout=plain, uncached=True),
        Run("info", "--info --json", stdin=fixture.sealed, stdout=fixture.begins(b"{")),
    ]
    return runs + [dataclasses.replace(run, name=f"{run.name}/{kind}", without=without, only=END,
                                       tolerates=ACCESS + MODE if kind in ("named", "renameless") else run.tolerates)
                   for run in runs for kind, without, names in FILE_SYSTEMS if run.name in names]


def device_runs(fixture):
    """Runs on the first CUDA device, alone and with CPU lanes."""
    runs = []
    for name, lanes in (("gpu", "-l cuda:0:2 -b 64K"), ("gpu+cpu", "-l cuda:0:2+cpu:1 -b 16K")):
        runs += [
            Run(f"raw-file/{name}", f"-f raw --iv {IV} -k {{key}} {lanes} -i {{plain}}", stdout=fixture.same(fixture.raw)),
            Run(f"seal-pipe/{name}", f"-k {{key}} {lanes}", stdin=fixture.plain, stdout=fixture.opens("-k {key}")),
            Run(f"open-pipe/{name}", f"-d -k {{key}} {lanes}", stdin=fixture.sealed, stdout=fixture.same(fixture.plain)),
            Run(f"seal-age/{name}", f"-R {{identity}}.pub {lanes}", stdin=fixture.plain, stdout=fixture.opens("-k {identity}")),
            Run(f"open-age/{name}", f"-d -k {{identity}} {lanes}", stdin=fixture.age, stdout=fixture.same(fixture.plain)),
        ]
    return runs
