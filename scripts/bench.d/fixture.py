"""The programs, keys and data that every part uses, and contenders made from them."""

import csv
import os
import re
import shutil
import subprocess
import tempfile

from contender import Contender
from units import MI


def make_random_file(path, size):
    """Random bytes, as fast as they can be made: the keystream of a random key."""
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


def folder_in(parent):
    """A temporary folder in `parent`, as a context manager."""
    return tempfile.TemporaryDirectory(prefix="gpuaes-bench.", dir=parent)


class Fixture:
    def __init__(self, work, arguments, results, deadline):
        self.work, self.results, self.deadline = work, results, deadline
        self.quick, self.disk = arguments.quick, arguments.disk
        self.file_size, self.stream_size = arguments.file_size, arguments.stream_size
        self.program, self.keygen, self.bench = (os.path.abspath(os.path.join(arguments.build, name)) for name in
                                                 ("gpuaes-stream", "gpuaes-keygen", "gpuaes-bench"))
        for program in (self.program, self.keygen, self.bench):
            if not os.access(program, os.X_OK):
                raise SystemExit(f"bench: {program} is missing: build first, or name the folder with --build")
        self.key, self.iv = os.urandom(32), os.urandom(16).hex()
        self.key_file = self.write_secret("key", self.key)
        self.passphrase_file = self.write_secret("passphrase", b"correct horse battery staple\n")
        listed = subprocess.run([self.program, "--list-lanes"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.cpus = int(re.search(r"^cpu:(\d+)", listed)[1])
        self.gpus = len(re.findall(r"^cuda:\d+", listed, re.M))
        if not self.gpus:
            results.left_out("CUDA lanes: no GPU")
        self.files = {}
        self.age = self.make_age()

    def path(self, name):
        return os.path.join(self.work, name)

    def write_secret(self, name, secret):
        path = self.path(name)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(secret)
        return path

    def runs(self, count):
        return 1 if self.quick else count

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
        return self.warm(name)

    def sealed(self, size):
        return self.made_of(size, "sealed", [self.program, "-q", "-k", self.key_file])

    def warm(self, path):
        if os.path.getsize(path) > 0:
            with open(path, "rb") as source:
                subprocess.run([self.bench, "read", str(self.cpus), "1M"], stdin=source, stdout=subprocess.DEVNULL, check=True)
        return path

    def forget_files(self):
        """Removes the files, which also keeps their dirty pages from being written to the disk."""
        for path in self.files.values():
            for ending in ("", ".sealed", ".age"):
                if os.path.exists(path + ending):
                    os.remove(path + ending)
        self.files = {}

    # Contenders -------------------------------------------------------------------------------------

    def ours(self, form, lanes=None, source=os.devnull, more=(), cipher="aes-256"):
        """gpuaes-stream on these lanes, with --stats; a plain run if no lanes are given. `form` is raw, sealed,
        cobblestone, or open, which decrypts a sealed input."""
        kuznyechik = cipher == "kuznyechik"
        options = {"raw": ["-f", "raw", "--iv", self.iv[:16] if kuznyechik else self.iv], "sealed": [],
                   "cobblestone": ["-f", "cobblestone"], "open": ["-d"]}[form]
        if kuznyechik and form != "open":
            options += ["-c", cipher]
        name = f"{'kuznyechik ' if kuznyechik else ''}{form}{f' -l {lanes}' if lanes else ''}"
        command = [self.program, "-q", "-k", self.key_file, *options, *more]
        stats = None
        if lanes:
            stats = self.path(f"{name}.json".replace(" ", "-"))
            command += ["-l", lanes, "--stats", stats]
        return Contender(name, command, source, stats, program="gpuaes-stream", cipher=cipher,
                         format="sealed" if form == "open" else form,
                         action="decrypt" if form == "open" else "encrypt", lanes=lanes or "auto")

    def cuda_lanes(self):
        """Arguments of -l for one GPU, alone and with CPU lanes."""
        return ["cuda:0", "cpu+cuda:0"] if self.gpus else []

    # Rivals -----------------------------------------------------------------------------------------

    def make_age(self):
        """Options for age to encrypt and to decrypt; None if it is not installed."""
        if not shutil.which("age") or not shutil.which("age-keygen"):
            self.results.left_out("age: not installed")
            return None
        identity = self.path("age.key")
        made = subprocess.run(["age-keygen", "-o", identity], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, check=True).stderr
        return {"encrypt": ["-r", re.search(r"\bage1\w+", made).group()], "decrypt": ["-d", "-i", identity]}

    def openssl(self, source=os.devnull):
        return Contender("openssl", ["openssl", "enc", "-aes-256-ctr", "-K", self.key.hex(), "-iv", self.iv], source,
                         cipher="aes-256", action="encrypt")

    def age_encrypts(self, source=os.devnull):
        return [Contender("age", ["age", *self.age["encrypt"]], source, action="encrypt")] if self.age else []

    def age_decrypts(self, size):
        """age, decrypting the random file of this size, which age encrypted."""
        if not self.age:
            return []
        source = self.made_of(size, "age", ["age", *self.age["encrypt"]])
        return [Contender("age -d", ["age", *self.age["decrypt"]], source, program="age", action="decrypt")]

    def gpg(self, source=os.devnull):
        if not shutil.which("gpg"):
            self.results.left_out("gpg: not installed")
            return []
        home = self.path("gnupg")
        os.makedirs(home, mode=0o700, exist_ok=True)
        command = ["gpg", "--homedir", home, "--batch", "--quiet", "--no-symkey-cache", "--pinentry-mode", "loopback",
                   "--passphrase-file", self.passphrase_file, "--s2k-count", "1024", "--cipher-algo", "AES256",
                   "--compress-algo", "none", "--symmetric", "--output", "-"]
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)  # starts gpg-agent
        gpg = Contender("gpg", command, source, cipher="aes-256", action="encrypt")
        gpg.every = 3
        return [gpg]

    def stop_gpg_agent(self):
        if os.path.isdir(self.path("gnupg")):
            subprocess.run(["gpgconf", "--homedir", self.path("gnupg"), "--kill", "all"], check=False)

    def gost_engine(self, source=os.devnull):
        """openssl enc with Kuznyechik from the gost engine; None if that is not installed."""
        command = ["openssl", "enc", "-engine", "gost", "-kuznyechik-ctr", "-K", self.key.hex(), "-iv", self.iv[:16]]
        tried = subprocess.run(command, input=b"x", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        if tried.returncode == 0 and len(tried.stdout) == 1:
            return Contender("gost-engine", command, source, cipher="kuznyechik", action="encrypt")
        self.results.left_out("gost-engine: not installed")
        return None

    def read_alone(self, source):
        """Parallel reads of a file, without a cipher."""
        count = str(self.cpus)
        return Contender(f"read, {count} threads", [self.bench, "read", count, "1M", count], source,
                         program="gpuaes-bench read", action="read", lanes=f"cpu:{count}")

    # gpuaes-bench -----------------------------------------------------------------------------------

    def bench_rows(self, table, *arguments, source=os.devnull, seconds=120):
        """Keeps the results of a gpuaes-bench command. If time runs out, stops it and keeps its rows so far."""
        name = f"gpuaes-bench {' '.join(arguments)}"
        seconds = self.deadline.at_most(seconds).left()
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
