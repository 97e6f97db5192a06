"""The programs, keys and data that every part uses, and contenders made from them."""

import csv
import glob
import os
import re
import subprocess
import tempfile

from contender import MIN_RUNS, Contender, take_turns
from machine import file_system
from units import MI


def make_random_file(path, size):
    """Random bytes, as fast as they can be made: the keystream of a random key. They are also written to the disk, so
    that the system does not write them while programs are measured."""
    zeros = f"{path}.zeros"
    with open(zeros, "wb") as file:
        os.truncate(file.fileno(), size)
    subprocess.run(["openssl", "enc", "-aes-128-ctr", "-K", os.urandom(16).hex(), "-iv", os.urandom(16).hex(), "-bufsize", str(MI),
                    "-in", zeros, "-out", path], check=True)
    os.remove(zeros)
    sync(path)


def sync(path):
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def evict(path):
    """Removes the file from the page cache. Returns whether that worked, as far as the system reports it."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        try:
            return os.preadv(file.fileno(), [bytearray(4096)], 0, os.RWF_NOWAIT) == 0
        except OSError:  # not in the page cache, or not supported
            return True


def folder_in(parent):
    """A temporary folder in `parent`, as a context manager."""
    return tempfile.TemporaryDirectory(prefix="gpuaes-bench.", dir=parent)


def memory_folder():
    """None if there is no folder in memory."""
    usable = os.path.isdir("/dev/shm") and file_system("/dev/shm") == "tmpfs" and os.access("/dev/shm", os.W_OK)
    return "/dev/shm" if usable else None


class Fixture:
    """`work` is a folder for everything but statistics, which go to `reports`: gpuaes-stream waits until they are on the
    disk, if they are on one."""

    def __init__(self, work, reports, arguments, results, deadline):
        self.work, self.reports, self.results, self.deadline = work, reports, results, deadline
        self.quick, self.disk = arguments.quick, arguments.disk
        self.file_size, self.stream_size = arguments.file_size, arguments.stream_size
        programs = [os.path.abspath(os.path.join(arguments.build, name)) for name in
                    ("gpuaes-stream", "gpuaes-keygen", "gpuaes-bench", "gpuage")]
        self.program, self.keygen, self.bench, self.gpuage = programs
        for program in programs:
            if not os.access(program, os.X_OK):
                raise SystemExit(f"bench: {program} is missing: build first, or name the folder with --build")
        self.key, self.iv = os.urandom(32), os.urandom(16).hex()
        self.key_file = self.write_secret("key", self.key)
        self.identity = self.path("identity")
        self.recipient = subprocess.run([self.keygen, "--x25519", "-o", self.identity], capture_output=True, text=True,
                                        check=True).stdout.strip()
        self.passphrase_file = self.write_secret("passphrase", b"correct horse battery staple\n")
        listed = subprocess.run([self.program, "--list-lanes"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.cpus = int(re.search(r"^cpu:(\d+)", listed)[1])
        self.gpus = len(re.findall(r"^cuda:\d+", listed, re.M))
        if not self.gpus:
            results.left_out("CUDA lanes: no GPU")
        self.installed = [rival for rival in ("age", "rage", "gpg") if self.starts(rival)]
        self.files = {}

    def path(self, name):
        return os.path.join(self.work, name)

    def write_secret(self, name, secret):
        path = self.path(name)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(secret)
        return path

    def compare(self, case, contenders, size, runs=MIN_RUNS):
        """Lets the contenders take turns, and keeps their results."""
        if take_turns(contenders, 1 if self.quick else runs, self.deadline):
            self.results.compare(case, contenders, size)
        else:
            self.results.left_out(f"{case}: the time limit was reached")

    # Data: random, and in the page cache -----------------------------------------------------------

    def file_of(self, size):
        if size not in self.files:
            self.files[size] = self.path(f"random.{size}")
            make_random_file(self.files[size], size)
        return self.warm(self.files[size])

    def made_of(self, size, ending, command):
        """The output of a command for the random file of this size."""
        name = f"{self.file_of(size)}.{ending}"
        if not os.path.exists(name):
            with open(self.files[size], "rb") as source, open(name, "wb") as out:
                made = subprocess.run(command, stdin=source, stdout=out, stderr=subprocess.PIPE, text=True)
            if made.returncode != 0:
                raise SystemExit(f"bench: cannot make {name}: {made.stderr.strip()}")
            sync(name)
        return self.warm(name)

    def encrypted(self, size, form="sealed"):
        """The random file of this size, encrypted by ours()."""
        return self.made_of(size, form, self.ours(form).command)

    def warm(self, path):
        if os.path.getsize(path) > 0:
            with open(path, "rb") as source:
                subprocess.run([self.bench, "read", str(self.cpus), "1M"], stdin=source, stdout=subprocess.DEVNULL, check=True)
        return path

    def forget_files(self):
        self.forget_encrypted()
        for path in self.files.values():
            os.remove(path)
        self.files = {}

    def forget_encrypted(self):
        for path in self.files.values():
            for name in glob.glob(f"{glob.escape(path)}.*"):
                os.remove(name)

    # Contenders -------------------------------------------------------------------------------------

    def ours(self, form, lanes=None, source=os.devnull, more=(), cipher="aes-256"):
        """gpuaes-stream on these lanes, with --stats; a plain run if no lanes are given. `form` is a row of the table.
        `cipher` is for formats that have a choice."""
        prefix, iv = ("kuznyechik ", self.iv[:16]) if cipher == "kuznyechik" else ("", self.iv)
        key, chosen = ["-k", self.key_file], ["-c", cipher]
        made, action, cipher, options = {
            "raw": ("raw", "encrypt", cipher, [*key, *chosen, "-f", "raw", "--iv", iv]),
            "sealed": ("sealed", "encrypt", cipher, [*key, *chosen]),
            "open": ("sealed", "decrypt", cipher, [*key, "-d"]),
            "age": ("age", "encrypt", "chacha20-poly1305", ["-r", self.recipient]),
            "open age": ("age", "decrypt", "chacha20-poly1305", ["-k", self.identity, "-d"])}[form]
        name = f"{prefix}{form}{f' -l {lanes}' if lanes else ''}"
        command = [self.program, "-q", *options, *more]
        stats = None
        if lanes:
            stats = os.path.join(self.reports, f"{name}.json".replace(" ", "-"))
            command += ["-l", lanes, "--stats", stats]
        return Contender(name, command, source, stats, program="gpuaes-stream", cipher=cipher, format=made, action=action,
                         lanes=lanes or "auto")

    def cuda_lanes(self):
        """The argument of -l for one GPU, if there is one."""
        return ["cuda:0"] if self.gpus else []

    def age_lanes(self):
        """cpu, auto, and cuda:0 if there is a GPU and its lanes have this format's cipher."""
        return ["cpu", *(lanes for lanes in self.cuda_lanes() if self.works(self.ours("age", lanes))), "auto"]

    # Rivals -----------------------------------------------------------------------------------------

    def works(self, contender):
        """Whether a run without input succeeds. If not, the contender is left out."""
        contender.run()
        if contender.failed:
            self.results.left_out(f"{contender.name}: {contender.failed}")
        return not contender.failed

    def starts(self, rival):
        script = 'command -v "$0" >/dev/null || { echo not installed >&2; exit 1; }; "$0" --version'
        return self.works(Contender(rival, ["sh", "-c", script, rival]))

    def openssl(self, source=os.devnull):
        return Contender("openssl", ["openssl", "enc", "-aes-256-ctr", "-K", self.key.hex(), "-iv", self.iv], source,
                         cipher="aes-256", action="encrypt")

    def age_rivals(self, form, source=os.devnull):
        """age and rage, doing what ours() does with this form."""
        return [self.age_program(name, name, form, source) for name in ("age", "rage") if name in self.installed]

    def with_gpuage(self, form, source=os.devnull):
        """The same, and gpuage, which has the command line of age."""
        return [self.age_program("gpuage", self.gpuage, form, source), *self.age_rivals(form, source)]

    def age_program(self, name, program, form, source):
        action, options = {"age": ("encrypt", ["-r", self.recipient]),
                           "open age": ("decrypt", ["-d", "-i", self.identity])}[form]
        return Contender(f"{name} program, {action}", [program, *options], source, program=name, format="age", action=action)

    def gpg(self, source=os.devnull):
        if "gpg" not in self.installed:
            return []
        home = self.path("gnupg")
        os.makedirs(home, mode=0o700, exist_ok=True)
        command = ["gpg", "--homedir", home, "--batch", "--quiet", "--no-symkey-cache", "--pinentry-mode", "loopback",
                   "--passphrase-file", self.passphrase_file, "--s2k-count", "1024", "--cipher-algo", "AES256",
                   "--compress-algo", "none", "--symmetric", "--output", "-"]
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)  # starts gpg-agent
        return [Contender("gpg", command, source, cipher="aes-256", action="encrypt")]

    def stop_gpg_agent(self):
        if os.path.isdir(self.path("gnupg")):
            subprocess.run(["gpgconf", "--homedir", self.path("gnupg"), "--kill", "all"], check=False)

    def read_alone(self, source):
        """Parallel reads of a file, without a cipher."""
        count = str(self.cpus)
        return Contender(f"read, {count} threads", [self.bench, "read", count, "1M"], source,
                         program="gpuaes-bench read", action="read", lanes=f"cpu:{count}")

    # gpuaes-bench -----------------------------------------------------------------------------------

    def bench_rows(self, table, *arguments, source=os.devnull, seconds=120):
        """Keeps the results of a gpuaes-bench command. If time runs out, stops it and keeps its rows so far."""
        name = f"gpuaes-bench {' '.join(arguments)}"
        seconds = max(0, min(seconds, self.deadline.left()))
        with open(source, "rb") as stdin, subprocess.Popen([self.bench, *arguments, "--csv"], stdin=stdin, text=True,
                                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            late = False
            try:
                text, messages = running.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                late = True
                running.terminate()
                text, messages = running.communicate()
        rows = list(csv.DictReader(text.splitlines()))
        self.results.add(table, rows)
        print(f"  {len(rows)} rows of {name}", flush=True)
        if late:
            self.results.left_out(f"{name}: stopped after {len(rows)} rows and {seconds:.0f} s")
        elif running.returncode != 0:
            self.results.failed(f"{name}: {messages.strip() or f'exit status {running.returncode}'}")
