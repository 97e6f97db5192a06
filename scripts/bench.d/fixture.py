"""What every part works with: programs, keys, files, and the contenders that are made of them."""

import os
import re
import shutil
import subprocess
import tempfile

from contender import Contender, ReadAlone
from machine import Limits
from settings import KI, MI, name_of, setting, words_of


def make_random_file(path, size):
    """Random bytes as fast as they come: the key stream of a random key."""
    key, iv = os.urandom(16).hex(), os.urandom(16).hex()
    with open(path, "wb") as out, subprocess.Popen(
            ["openssl", "enc", "-aes-128-ctr", "-K", key, "-iv", iv, "-in", "/dev/zero"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as openssl:
        while size > 0:
            data = openssl.stdout.read(min(size, MI))
            if not data:
                raise SystemExit("bench: openssl enc made no random data")
            out.write(data)
            size -= len(data)
        openssl.kill()


class Plan:
    """What gpuaes-stream chose, as -v says it."""

    def __init__(self, said, gpus):
        ring = re.search(r"\bring (\d+) chunks of (\d+) (\w+)", said)
        unit = {"MiB": MI, "KiB": KI, "bytes": 1}.get(ring[3], 1) if ring else 1
        self.chunks, self.chunk = (int(ring[1]), int(ring[2]) * unit) if ring else (0, MI)
        lanes = re.findall(r"\b(cpu|cuda)(:\*)?(?::\d+)?:(\d+)", said)
        self.workers = sum(int(count) * (gpus if every else 1) for _, every, count in lanes) or os.cpu_count()


class Fixture:
    def __init__(self, work, report):
        self.work = work
        build = setting("BUILD", "build")
        self.program, self.bench = (os.path.abspath(f"{build}/{name}") for name in ("gpuaes-stream", "gpuaes-bench"))
        for program in (self.program, self.bench):
            if not os.access(program, os.X_OK):
                raise SystemExit(f"bench: {program} is not here: build first")
        self.key, self.iv = os.urandom(32), os.urandom(16).hex()
        self.key_file = self.path("key")
        with open(os.open(self.key_file, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(self.key)
        listed = subprocess.run([self.program, "--list-lanes"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.cpus = int(re.search(r"^cpu:(\d+)", listed)[1])
        self.gpus = len(re.findall(r"^cuda:\d+", listed, re.M))
        self.limits = Limits(self, report)
        self.report = report
        self.files = {}
        self.compared = {}  # contenders that read the file of a size, by that size: for other parts
        self.age = self.make_age()

    def path(self, name):
        return os.path.join(self.work, name)

    @staticmethod
    def folder_in(parent):
        """A folder of our own there, for a `with`."""
        return tempfile.TemporaryDirectory(prefix="gpuaes-bench.", dir=parent)

    # Files: random, and in the page cache ---------------------------------------------------------

    def file_of(self, size):
        if size not in self.files:
            self.files[size] = self.path(f"random.{size}")
            make_random_file(self.files[size], size)
        return self.warm(self.files[size])

    def sealed(self, size):
        """What of this size sealed is."""
        return self.made_of(size, "sealed", [self.program, "-q", "-k", self.key_file])

    def made_of(self, size, ending, command):
        name = f"{self.file_of(size)}.{ending}"
        if not os.path.exists(name):
            with open(self.files[size], "rb") as source, open(name, "wb") as out:
                subprocess.run(command, stdin=source, stdout=out, check=True)
        return self.warm(name)

    def warm(self, path):
        if os.path.getsize(path) > 0:
            with open(path, "rb") as source:
                subprocess.run([self.bench, "read", str(self.cpus), "1M"], stdin=source, stdout=subprocess.DEVNULL, check=True)
        return path

    def forget(self, path):
        """Dirty pages of files that are gone are no longer written to the disk."""
        if os.path.exists(path):
            os.remove(path)

    def forget_files(self):
        for path in self.files.values():
            for ending in ("", ".sealed", ".age"):
                self.forget(path + ending)
        self.files = {}

    # Contenders -----------------------------------------------------------------------------------

    def ours(self, form, lanes=None, source=os.devnull, more=(), cipher=None):
        """gpuaes-stream with these lanes and its own figures; None stands for what it does by itself. `form` is
        raw, sealed, cobblestone, or open for decryption of what is sealed. AES-256 where no cipher is named."""
        iv = self.iv[:16] if cipher == "kuznyechik" else self.iv
        options = {"raw": ["-f", "raw", "--iv", iv], "sealed": [], "cobblestone": ["-f", "cobblestone"],
                   "open": ["-d"]}[form]
        if cipher:
            options += ["-c", cipher]
            form = f"{cipher} {form}"
        command = [self.program, "-k", self.key_file, *options, *more]
        if lanes is None:
            return Contender(f"gpuaes-stream {form}", [*command, "-q"], source)
        stats = self.path(f"{form}.{lanes}.json")
        return Contender(f"{form} -l {lanes}", [*command, "-v", "-l", lanes, "--stats", stats], source, stats)

    def gpu_lanes(self):
        """What -l takes for one GPU and for several: for one, by itself and beside CPU lanes."""
        several = [count for count in (2, 4, 8) if count < self.gpus]
        lanes = ["cuda:0", "cpu+cuda:0"] if self.gpus else []
        lanes += ["+".join(f"cuda:{device}" for device in range(count)) for count in several]
        return lanes + ["cuda"] * (self.gpus > 1)

    def with_gpu(self, make, *lanes):
        if self.gpus:
            return [make(each) for each in lanes]
        self.report.skip(f"no GPU for {', '.join(lanes)}")
        return []

    def plan(self, form, lanes, source):
        """A run that is not counted: what was chosen for this input. Warms up, too."""
        contender = self.ours(form, lanes, source)
        contender.run(counted=False)
        plan = Plan(contender.said, self.gpus)
        if not plan.chunks:
            print(f"  {contender.name} does not say its chunks: chunks of {words_of(plan.chunk)} are assumed")
        return plan

    def read_alone(self, source, threads, chunk, buffers):
        name = f"pread alone, {threads} x {name_of(chunk)}"
        if buffers > threads:
            name += f", {buffers} buffers"
        reader = ReadAlone(name, [self.bench, "read", "--json", str(threads), str(chunk), str(max(buffers, threads))], source)
        reader.output = self.path("read.json")
        return reader

    # Rivals ---------------------------------------------------------------------------------------

    def make_age(self):
        """The options for age to encrypt and to decrypt; None where it is not installed."""
        if not shutil.which("age") or not shutil.which("age-keygen"):
            return None
        identity = self.path("age.key")
        made = subprocess.run(["age-keygen", "-o", identity], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, check=True).stderr
        return {"sealed": ["-r", re.search(r"\bage1\w+", made).group()], "open": ["-d", "-i", identity]}

    def openssl(self, source=os.devnull):
        return Contender("openssl", ["openssl", "enc", "-aes-256-ctr", "-K", self.key.hex(), "-iv", self.iv], source)

    def gost_engine(self, source=os.devnull, every=1):
        """openssl enc with Kuznyechik, which its engine gost brings; None where that is not installed."""
        command = ["openssl", "enc", "-engine", "gost", "-kuznyechik-ctr", "-K", self.key.hex(), "-iv", self.iv[:16]]
        tried = subprocess.run(command, input=b"x", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        if tried.returncode == 0 and len(tried.stdout) == 1:
            return Contender("gost-engine", command, source, every=every)
        self.report.skip("openssl has no engine gost")
        return None

    def rivals(self, *names, source=os.devnull, every=1):
        """Those of openssl, age, cat and pv that are here."""
        found = []
        for name in names:
            if not shutil.which(name) or (name == "age" and not self.age):
                self.report.skip(f"{name} is not installed")
                continue
            if name == "openssl":
                found.append(self.openssl(source))
            else:
                options = {"age": self.age and self.age["sealed"], "cat": [], "pv": ["-q"]}[name]
                found.append(Contender(name, [name, *options], source))
            found[-1].every = every
        return found

    def age_opens(self, size, every=1):
        """age, decrypting what it made of the random file of this size; none where it is not installed."""
        if not self.age:
            return []
        source = self.made_of(size, "age", ["age", *self.age["sealed"]])
        return [Contender("age -d", ["age", *self.age["open"]], source, every=every)]
