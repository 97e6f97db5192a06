"""The commands during which the power fails, and what must be true afterwards."""

import dataclasses
import os
import re
import stat
import subprocess

from execution import CAPACITY, LAYOUT
from programs import LINKLESS, NAMED, OLD, Programs

SIZE = 70_001  # two chunks of 64 KiB, five segments of 16 KiB
NEW_MODE = 0o644
UNFINISHED_MODE = 0o645  # of what --into writes, until it is complete


@dataclasses.dataclass
class Case:
    """A command line, run in a folder with `files`. {name} stands for a program or a file of the fixture."""
    name: str
    command: str
    check: object  # called with a State, returns what is wrong, or None
    files: dict = dataclasses.field(default_factory=dict)  # name to content
    modes: dict = dataclasses.field(default_factory=dict)  # of these, if not 0644
    prepare: tuple = ()  # commands that are run before it
    mode: int = NEW_MODE  # the most that new files may permit
    new_modes: dict = dataclasses.field(default_factory=dict)  # the same for these
    unneeded: list = dataclasses.field(default_factory=list)  # numbers of syncs that have no effect here
    killed: int = 0  # an earlier run of the command was killed when it called fsync() for this time
    without: str = ""  # faults that are injected at all calls, for a file system that does not support something


class Wrong(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Wrong(what)


class State:
    """A folder after a power cut, and whether the command had ended before."""

    def __init__(self, fixture, case, folder, ended):
        self.fixture, self.case, self.folder, self.ended = fixture, case, folder, ended

    def has(self, name):
        return os.path.lexists(os.path.join(self.folder, name))

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def run(self, line):
        return self.fixture.run(line, self.folder)

    def must_run(self, line):
        done = self.run(line)
        need(done.returncode == 0, f"{line}: status {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout

    def opens(self, name, key="key"):
        done = self.run(f"{{stream}} -d -q -k {{{key}}} {name}")
        return done.returncode == 0 and done.stdout == self.fixture.plain

    def mode_of(self, name):
        return stat.S_IMODE(os.stat(os.path.join(self.folder, name)).st_mode)


class Fixture(Programs):
    def __init__(self, folder, build):
        super().__init__(folder, build)
        self.plain = os.urandom(SIZE - 20_000) + bytes(10_000) + os.urandom(10_000)
        for name, content in (("plain", self.plain), ("key", os.urandom(32)), ("new", os.urandom(32))):
            self.make(name, content)
        os.utime(self.path("plain"), (0, 0))  # otherwise, plan waits until it has been unchanged for some time
        self.make("record", bytes(CAPACITY * LAYOUT.size))
        self.run("{keygen} --x25519 -o {identity}", folder)
        self.two_shares = self.make("two_shares", os.urandom(2**20 + SIZE))  # shares begin at multiples of 1 MiB
        self.run("{stream} -q -k {key} -o {sealed_shares} {two_shares}", folder)
        self.sealed = self.make("sealed", self.run("{stream} -q -k {key} {plain}", folder).stdout)

    def run(self, line, folder):
        return subprocess.run(self.expand(line), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)

    def environment(self, case):
        return self.injecting([case.without], self.path("record")) if case.without else {}


# Checks --------------------------------------------------------------------------------------------------------------

# A check runs programs in the folder. If something is wrong, it raises Wrong.

def output(name, opens, old=None, mode=NEW_MODE):
    """`name` has its old content, or does not exist if that is None; or all of its new content, with `mode`."""
    def is_new(state):
        return state.has(name) and opens(state, name)

    def check(state):
        if is_new(state):
            need(not state.ended or state.mode_of(name) == mode, f"{name} has mode {state.mode_of(name):o}")
        else:
            content = state.read(name) if state.has(name) else None
            need(content == old, f"{name} has neither its old nor its new content")
            need(not state.ended, f"the command had succeeded, but {name} is not the new one")
        state.must_run(state.case.command)
        need(is_new(state), f"after another run, {name} is not the new one")
    return check


def is_plain(state, name):
    return state.has(name) and state.read(name) == state.fixture.plain


def opens_with_key(state, name):
    return state.opens(name)


def keys(state):
    """An identity and the file with its recipient; the second is of no use without the first."""
    for name in ("id", "id.pub"):
        need(not state.ended or state.has(name), f"the command had succeeded, but {name} is not there")
    if not state.has("id.pub") and not state.has("id"):
        state.must_run(state.case.command)
    if state.has("id"):
        recipient = state.must_run("{keygen} -y id").strip()
        need(not state.has("id.pub") or recipient in state.read("id.pub"), "id.pub does not match id")
    else:
        need(not state.has("id.pub"), "there is a recipient without its identity")


def rekeyed(*names):
    def check(state):
        for name in names:
            old, new = state.opens(name, "key"), state.opens(name, "new")
            need(new or old and not state.ended, f"{name} does not open")
        state.must_run(state.case.command.replace("{key}", "{key} -k {new}"))
        need(all(state.opens(name, "new") for name in names), "after another run, the new key does not open a file")
    return check


def sealed_files(state):
    for name in ("a", "sub/b"):
        target = f"out/{name}.sealed"
        need(not state.ended or state.has(target), f"the command had succeeded, but {target} is not there")
        need(not state.has(target) or state.opens(target), f"{target} is there, but not whole")
    state.must_run(f"{state.case.command} --skip-existing")
    need(state.opens("out/a.sealed") and state.opens("out/sub/b.sealed"), "after another run, a file is missing")


def opens_with_identity(state, name):
    done = state.run(f"{{gpuage}} -d -i {{identity}} {name}")
    return done.returncode == 0 and done.stdout == state.fixture.plain


def key(state):
    if state.has("id"):
        state.must_run("{stream} -q -k id -o sealed {plain}")
        need(re.fullmatch(rb"[0-9a-f]{64}\n", state.read("id")), "the key is not whole")
    else:
        need(not state.ended, "the command had succeeded, but there is no key")
        state.must_run(state.case.command)


def part_with_receipt(state):
    for name in ("x/part", "receipt"):
        need(not state.ended or state.has(name), f"the command had succeeded, but {name} is not there")
    if not state.ended:
        state.must_run(state.case.command)
    state.must_run(SEAL[1])
    state.must_run("{parts} join -q d --receipts receipt")
    state.must_run("mv x/part d/part.0000000")
    need(state.opens("d"), "the joined directory does not open")


def planned(state):
    if not state.has("d/job"):
        need(not state.ended, "the command had succeeded, but there is no job file")
        if state.has("d"):
            need(state.run(state.case.command).returncode != 0, "plan accepts a directory that exists")
            state.must_run("rm -r d")
        state.must_run(state.case.command)
    finish(state)


def finish(state):
    for number in "01":
        state.must_run(f"{{parts}} seal -q d --part {number}")
    join(state)


def part_sealed(state):
    need(not state.ended or state.has("d/part.0000000"), "the command had succeeded, but there is no part")
    finish(state)


def joined(state):
    need(not state.ended or not state.has("d/job"), "the command had succeeded, but the job file is still there")
    join(state)


def join(state):
    state.must_run("{parts} join -q d")
    need(state.opens("d"), "the joined directory does not open")
    need(not state.has("d/job"), "after join, the job file is still there")


def joined_to_file(state):
    need(not state.ended or state.has("file"), "the command had succeeded, but the file is not there")
    need(not state.ended or not state.has("d/job"), "the command had succeeded, but the job file is still there")
    need(not state.has("file") or state.opens("file"), "the file is there, but not whole")
    state.must_run(state.case.command)
    need(state.opens("file"), "after another run, the file does not open")


def first_share(state):
    need(not state.has("out"), "the file is there after one share of two")
    if not state.ended:
        state.must_run(SHARES[0])
    state.must_run(SHARES[1])
    need(is_complete(state), "the file is wrong")


def last_share(state):
    need(not state.has("out") or is_complete(state), "the file is there, but not whole")
    need(not state.has("out") or state.mode_of("out") == NEW_MODE, "the file is marked as unfinished")
    need(not state.ended or state.has("out"), "the command had succeeded, but the file is not there")
    state.must_run(SHARES[1])
    need(is_complete(state), "the file is wrong")


def is_complete(state):
    return state.has("out") and state.read("out") == state.fixture.two_shares


SHARES = [f"{{stream}} -d -q -k {{key}} --share {share}/2 --into out {{sealed_shares}}" for share in range(2)]
PLAN = "{parts} plan -q -k {key} -i {plain} -n 2 -o d"
SEAL = ("{parts} seal -q d --part 0", "{parts} seal -q d --part 1")


def cases(fixture):
    seal, open_ = "{stream} -q -k {key} -o out {plain}", "{stream} -d -q -k {key} -o out {sealed}"
    old = {"files": {"out": OLD}, "modes": {"out": 0o640}, "mode": 0o640}
    replaced = {"old": OLD, "mode": 0o640}
    rekey = "{stream} --rekey -q -k {key} --new-key {new}"
    sealed = fixture.sealed
    for suffix, without in (("", ""), (", with a temporary name", NAMED)):
        yield Case(f"seal{suffix}", seal, output("out", opens_with_key), without=without)
        yield Case(f"seal over a file{suffix}", seal, output("out", opens_with_key, **replaced), without=without, **old)
        yield Case(f"open over a file{suffix}", open_, output("out", is_plain, **replaced), without=without, **old)
        yield Case(f"rekey{suffix}", f"{rekey} a", rekeyed("a"), {"a": sealed}, without=without)
    yield Case("seal over a file, without links", seal, output("out", opens_with_key, **replaced), without=LINKLESS,
               unneeded=[1], **old)  # of the file that cannot be linked and is then copied
    yield Case("open to a sparse file", f"{open_} --sparse", output("out", is_plain))
    yield Case("rekey two files", f"{rekey} a sub/b", rekeyed("a", "sub/b"), {"a": sealed, "sub/b": sealed})
    yield Case("seal into a directory", "{stream} -q -k {key} --output-dir out a sub/b", sealed_files,
               {"a": fixture.plain, "sub/b": fixture.plain})
    yield Case("keygen", "{keygen} --x25519 -o id", keys, new_modes={"id": 0o600})
    yield Case("keygen, a key", "{keygen} -o id", key, mode=0o600)
    yield Case("gpuage", "{gpuage} -R {identity}.pub -o out {plain}", output("out", opens_with_identity))
    yield Case("plan", PLAN, planned, new_modes={"d/job": 0o600})
    yield Case("seal a part", SEAL[0], part_sealed, prepare=(PLAN,))
    yield Case("seal a part, with a receipt", f"{SEAL[0]} -o x/part --receipt receipt", part_with_receipt,
               prepare=(PLAN, "mkdir x"))
    yield Case("join", "{parts} join -q d", joined, prepare=(PLAN, *SEAL))
    yield Case("join to a file", "{parts} join -q d -o file", joined_to_file, prepare=(PLAN, *SEAL))
    yield Case("rekey parts", f"{rekey} d", rekeyed("d"), prepare=(PLAN, *SEAL, "{parts} join -q d"))
    yield Case("seal a part again", SEAL[0], part_sealed, prepare=(PLAN,), killed=2)
    yield Case("join again", "{parts} join -q d", joined, prepare=(PLAN, *SEAL), killed=2)
    shared = {"mode": UNFINISHED_MODE}
    yield Case("first share", SHARES[0], first_share, **shared)
    yield Case("last share", SHARES[1], last_share, prepare=(SHARES[0],), **shared)
    yield Case("last share again", SHARES[1], last_share, prepare=(SHARES[0],), killed=2, **shared)
