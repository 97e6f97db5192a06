"""Records the system calls of a command that change files, with strace. The command must start no other programs."""

import glob
import os
import re
import subprocess
import typing

CALLS = "openat,close,fcntl,lseek,read,write,ftruncate,linkat,renameat,renameat2,unlinkat,mkdirat,chmod,fchmod,fsync"
LINE = re.compile(r"(\d+\.\d+) (\w+)\((.*)\) += (-?\d+).* <(\d+\.\d+)>")
MAX_STRING = 1 << 22


class Call(typing.NamedTuple):
    begin: float  # seconds
    end: float
    name: str
    arguments: str  # as strace prints them, with strings in hexadecimal
    result: int

    def words(self):
        return self.arguments.split(", ")

    def number(self, index):
        return int(self.words()[index], 0)

    def strings(self):
        texts = re.findall(r'"((?:\\x[0-9a-f]{2})*)"', self.arguments)
        return [bytes.fromhex(text.replace(r"\x", "")) for text in texts]

    def path(self, index=0):
        return os.fsdecode(self.strings()[index])


def can_record():
    try:
        return subprocess.run(["strace", "-o", "/dev/null", "true"], stderr=subprocess.DEVNULL).returncode == 0
    except FileNotFoundError:
        return False


def record(command, folder, output, environment, kill_at=0):
    """Runs a command. Returns the process, and the successful calls of all threads in their order.
    kill_at: the number of the call of fsync() at which the command is killed."""
    os.mkdir(output)
    variables = [word for name, value in environment.items() for word in ("-E", f"{name}={value}")]
    tracer = ["strace", "-ff", "-ttt", "-T", "-xx", f"-s{MAX_STRING}", "-o", f"{output}/of", "-e", f"trace={CALLS}",
              "-e", "signal=none", *variables]
    if kill_at:
        tracer += ["-e", f"inject=fsync:signal=KILL:when={kill_at}"]
    done = subprocess.run([*tracer, *command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE)
    calls = []
    for name in glob.glob(f"{output}/of.*"):
        with open(name, encoding="ascii") as file:
            calls += filter(None, map(parse, file))
    # A call may have an effect as soon as it begins. But a descriptor exists when openat() ends, and data is on the disk
    # when fsync() does.
    late = ("openat", "fcntl", "fsync")
    calls.sort(key=lambda call: call.end if call.name in late else call.begin)
    return done, calls


def parse(line):
    found = LINE.fullmatch(line.rstrip("\n"))
    if not found or int(found[4]) < 0:
        return None
    begin, duration = float(found[1]), float(found[5])
    return Call(begin, begin + duration, found[2], found[3], int(found[4]))
