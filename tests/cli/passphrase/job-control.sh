#!/usr/bin/env bash
# Job control at the passphrase prompt in interactive shells: while the program is stopped, the terminal echoes as
# usual, and after fg the prompt appears again without echo. No part of a passphrase reaches the screen or the shell.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
import pty
import shutil

from sealed_harness import *

PROMPT = b"ready> "
SECRET = b"Correct-Horse-7"
ASKS = b"passphrase: "
plain = make_input(20000)
with open("sealed", "wb") as f:
    f.write(sf.seal(plain, passphrase=SECRET, log_n=10))
DECRYPT = "$PROGRAM -q -d -p -o out <sealed"
ENCRYPT = "$PROGRAM -q -p -i sealed -o out"


class Shell:
    """An interactive shell in a new terminal."""

    def __init__(self, *command):
        self.name = " ".join(command)
        self.edits_lines = command[0] == "bash" and "--noediting" not in command
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            for s in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP, signal.SIGTTOU):
                signal.signal(s, signal.SIG_DFL)
            os.environ.update(PS1=PROMPT.decode(), TERM="dumb", HISTFILE="/dev/null")
            os.execvp(command[0], command)
        atexit.register(self.close)
        self.seen = b""
        self.await_text(PROMPT, 0)

    def close(self):
        try:
            os.close(self.master)
            os.waitpid(self.pid, 0)
        except OSError:
            pass

    def look(self, seconds):
        while select.select([self.master], [], [], seconds)[0]:
            self.seen += os.read(self.master, 10000)

    def await_text(self, text, start, holds=lambda: True):
        """Waits until the output after position `start` ends with `text`, and `holds` is true."""
        deadline = time.monotonic() + PATIENCE
        while not (self.seen[start:].endswith(text) and holds()):
            if time.monotonic() > deadline:
                fail(f"{self.name}: expected {text!r}, got {self.seen[start:]!r}, echo {self.echoes()}")
            self.look(0.02)

    def echoes(self):
        return bool(termios.tcgetattr(self.master)[3] & termios.ECHO)

    def type(self, text):
        start = len(self.seen)
        os.write(self.master, text)
        return start

    def expect_hidden_prompt(self, start, question=ASKS):
        self.await_text(question, start, lambda: not self.echoes())
        self.look(0.05)

    def expect_shell(self, start, what):
        """Waits for the shell's prompt and its terminal settings. Returns the output."""
        self.await_text(PROMPT, start, lambda: self.edits_lines or self.echoes())
        if SECRET in self.seen or b"Horse" in self.seen:
            fail(f"{self.name}, {what}: expected no passphrase on the screen, got {self.seen!r}")
        return self.seen[start:]

    def run(self, command, what):
        """Runs a shell command. Returns its output, including the echo of the command."""
        return self.expect_shell(self.type(command.encode() + b"\n"), what)

    def begin(self, command, question=ASKS):
        if os.path.exists("out"):
            os.remove("out")
        self.expect_hidden_prompt(self.type(command.encode() + b"\n"), question)

    def stop(self, what, typed=b"\x1a"):
        shown = self.expect_shell(self.type(typed), what)
        if not re.search(rb"Stopped|Suspended", shown):
            fail(f"{self.name}, {what}: expected the shell to report a stopped job, got {shown!r}")

    def resume(self, question=ASKS):
        self.expect_hidden_prompt(self.type(b"fg\n"), question)

    def expect_status(self, want, what):
        got = self.run("echo status=$?", what)
        if f"status={want}\r\n".encode() not in got:
            fail(f"{self.name}, {what}: expected status {want}, got {got!r}")

    def expect_opened(self, what):
        self.expect_shell(self.type(SECRET + b"\n"), what)
        self.expect_status(0, what)
        with open("out", "rb") as f:
            expect_same(plain, f.read(), f"{self.name}, {what}: decrypted")

    def kill(self):
        """Kills the stopped job, and continues it, because not every shell does so."""
        self.run("kill %1; kill -CONT %1", "kill")

    def job(self):
        """The process that the shell started last."""
        with open(f"/proc/{self.pid}/task/{self.pid}/children") as f:
            return int(f.read().split()[-1])

    def await_state(self, pid, states):
        deadline = time.monotonic() + PATIENCE
        while stat_fields(f"/proc/{pid}/stat")[0] not in states:
            if time.monotonic() > deadline:
                fail(f"{self.name}: expected process state {states} after {self.seen[-300:]!r}, got {stat_fields(f'/proc/{pid}/stat')[0]}")
            self.look(0.02)


def stopped_and_resumed(shell):
    shell.begin(DECRYPT)
    shell.stop("^Z at the prompt")
    shell.resume()
    shell.expect_opened("after fg")

    shell.begin(DECRYPT)
    for typed in (b"Corr", b"Horse-7"):
        shell.stop("^Z after a part", typed + b"\x1a")
        shell.resume()
    shell.expect_opened("after ^Z twice")

    shell.begin(DECRYPT)
    for number in (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
        start = shell.type(b"Corr")
        shell.look(0.1)
        os.kill(shell.job(), number)
        shell.expect_shell(start, f"{number.name} from another process")
        if b"Corr" in shell.run("echo all", "a command after a part"):
            fail(f"{shell.name}: expected no part of the passphrase to reach the shell, got {shell.seen!r}")
        shell.resume()
    shell.expect_opened("after signals from another process")


def at_the_second_prompt(shell):
    shell.begin(ENCRYPT)
    start = shell.type(SECRET + b"\n")
    shell.expect_hidden_prompt(start, b"repeat the passphrase: ")
    shell.stop("^Z at the second prompt")
    shell.resume(b"repeat the passphrase: ")
    shell.expect_shell(shell.type(SECRET + b"\n"), "to encrypt")
    shell.expect_status(0, "to encrypt")
    with open("out", "rb") as f, open("sealed", "rb") as g:
        expect_equal((0, g.read()), open_independently(f.read(), passphrase=SECRET), f"{shell.name}: the sealed file")


def ended(shell):
    shell.begin(DECRYPT)
    shell.stop("^Z before ^C")
    shell.resume()
    shell.expect_shell(shell.type(b"Corr\x03"), "^C after fg")
    shell.expect_status(130, "^C after fg")

    shell.begin(DECRYPT)
    shell.stop("^Z before kill")
    job = shell.job()
    shell.kill()
    shell.await_state(job, "ZX")
    shell.run("wait", "kill")

    shell.run(f"{DECRYPT} &", "in the background")
    job = shell.job()
    shell.await_state(job, "T")
    shell.kill()
    shell.await_state(job, "ZX")
    shell.run("wait", "kill in the background")
    expect_equal(["sealed"], os.listdir("."), f"{shell.name}: files after signals")


def in_the_background(shell):
    shell.run(f"{DECRYPT} &", "in the background")
    shell.await_state(shell.job(), "T")
    shell.resume()
    shell.stop("^Z before bg")
    job = shell.job()
    shell.run("bg", "bg")
    shell.await_state(job, "T")
    shell.resume()
    shell.expect_opened("after bg and fg")

    # SIGSTOP cannot be caught to restore the terminal, but after fg there is no echo again.
    shell.begin(DECRYPT)
    start = len(shell.seen)
    os.kill(shell.job(), signal.SIGSTOP)
    shell.await_text(PROMPT, start)
    job = shell.job()
    shell.type(b"fg\n")
    shell.await_state(job, "S")
    shell.await_text(b"", 0, lambda: not shell.echoes())
    shell.look(0.2)
    shell.expect_opened("after SIGSTOP")


def too_long(shell):
    for size in (1025, 2048, 2049, 4094, 4095, 4096, 5000, 20000):
        for end in (b"\n", b"\x03"):
            shell.begin(DECRYPT)
            what = f"{size} bytes and {end!r}"
            start = shell.type(b"")
            for at in range(0, size, 1000):
                os.write(shell.master, b"x" * min(1000, size - at))
                time.sleep(0.005)
            last = shell.type(end)
            if end == b"\n":  # two more attempts
                for _ in range(2):
                    shell.expect_hidden_prompt(last)
                    last = shell.type(b"\n")
            shell.expect_shell(last, what)
            shell.expect_status(2 if end == b"\n" else 130, what)
            if b"xx" in shell.seen[start:]:
                fail(f"{shell.name}, {what}: expected no part of it on the screen or in the shell, got {shell.seen!r}")
            message = b"is longer than 1024 bytes" in shell.seen[start:]
            expect_equal(end == b"\n", message, f"{shell.name}, {what}: a message {shell.seen[start:]}")


os.environ["PROGRAM"] = program
shells = [["bash", "--norc", "--noprofile", "--noediting", "-i"], ["bash", "--norc", "--noprofile", "-i"]]
shells += [["dash", "-i"]] if shutil.which("dash") else []
for command in shells:
    for part in (stopped_and_resumed, at_the_second_prompt, ended, in_the_background, too_long):
        try:
            shell = Shell(*command)
        except OSError:
            print("skipped: no pseudo-terminals on this system")
            sys.exit(77)
        part(shell)
        if os.path.exists("out"):
            os.remove("out")
        shell.close()
if not shutil.which("dash"):
    print("skipped: dash is not installed; passed with bash")
    sys.exit(77)
PYTHON
