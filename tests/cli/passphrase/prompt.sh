#!/usr/bin/env bash
# -p asks on the controlling terminal without echo, twice to encrypt and once to decrypt, while standard input and
# output are pipes. The terminal settings are restored, even after ^C.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

try:
    master, slave = os.openpty()
    os.ttyname(slave)
except OSError:
    print("skipped: no pseudo-terminals on this system")
    sys.exit(77)
pid = os.fork()
if pid:  # the child continues in a new session, whose terminal is the slave
    os.close(slave)
    status = os.waitpid(pid, 0)[1]
    os._exit(os.waitstatus_to_exitcode(status) & 255)
os.setsid()
try:
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
except OSError:
    print("skipped: cannot set the controlling terminal")
    sys.exit(77)
for s in (signal.SIGINT, signal.SIGHUP):
    signal.signal(s, signal.SIG_IGN)

SECRET = b"Correct-Horse-7"
plain = make_input(20000)
usual = termios.tcgetattr(slave)
seen = b""  # output on the terminal since the program was started


def echoes():
    return bool(termios.tcgetattr(slave)[3] & termios.ECHO)


def look(seconds):
    global seen
    while select.select([master], [], [], seconds)[0]:
        seen += os.read(master, 1000)


def begin(*options, data=b"", asking=("-p", *QUICK), **popen):
    global seen
    seen = b""

    def signals():
        for s in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(s, signal.SIG_DFL)

    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    child = subprocess.Popen([program, *asking, *options], preexec_fn=signals, **pipes, **popen)
    threading.Thread(target=feed, args=(child.stdin, data), daemon=True).start()
    child.stdin = None  # or communicate() would close it
    return child


def feed(pipe, data):
    try:
        pipe.write(data)
        pipe.close()
    except OSError:
        pass


def await_prompt(what):
    """Waits for a new prompt, and for the terminal to stop echoing."""
    global seen
    before, deadline = len(seen), time.monotonic() + PATIENCE
    while not (re.search(rb"[a-zA-Z].*: *$", seen[before:], re.S) and not echoes()):
        if time.monotonic() > deadline:
            fail(f"{what}: expected a prompt and no echo, got {seen[before:]!r}, echo {echoes()}")
        look(0.05)
    look(0.1)


def answer(text, what):
    await_prompt(what)
    os.write(master, text)


def end(child, want, what):
    try:
        out, err = child.communicate(timeout=10 * A_SECOND)
    except subprocess.TimeoutExpired:
        fail(f"{what}: expected the program to end, but it still runs; on the terminal {seen!r}")
    look(0.1)
    expect_equal(want, child.returncode, f"{what}: exit status (stderr: {err.decode()})")
    expect_equal(usual, termios.tcgetattr(slave), f"{what}: terminal settings")
    for text in (SECRET, b"Horse"):
        if text in seen or text in err:
            fail(f"{what}: expected no echo, got {seen!r} on the terminal, {err!r} on stderr")
    if want > 0 and len(re.findall(rb"^gpuaes-stream: error: ", err, re.M)) != 1:
        fail(f"{what}: expected one error message, got {err!r}")
    return Result(child.returncode, out, err)


child = begin(data=plain)
answer(SECRET + b"\n", "first prompt to encrypt")
answer(SECRET + b"\n", "second prompt to encrypt")
sealed = end(child, 0, "to encrypt").out
expect_equal((0, plain), open_independently(sealed, passphrase=SECRET), "opened by the independent implementation")

child = begin("-d", data=sealed)
answer(SECRET + b"\n", "prompt to decrypt")
expect_same(plain, end(child, 0, "to decrypt").out, "decrypted")

quick = sf.seal(plain, [KEY], SECRET, 10)
for name in ("one", "two"):
    with open(name, "wb") as file:
        file.write(quick)
child = begin("--test", "one", "two", "one")
answer(SECRET + b"\n", "prompt for several files")
expect_same(b"one: ok\ntwo: ok\none: ok\n", end(child, 0, "several files").out, "several files")
expect_equal(1, seen.count(b"passphrase for "), "prompts for several files")
child = begin("-d", data=quick)
for _ in range(3):
    answer(b"Horse\n", "prompt to decrypt")
expect_equal(b"", end(child, 3, "wrong passphrase").out, "output with a wrong passphrase")
child = begin("-d", "-f", "openssl", data=b"Salted__12345678" + plain)
answer(SECRET + b"\n", "prompt for the openssl format")
expect_equal(len(plain), len(end(child, 0, "openssl format").out), "bytes decrypted")

# If the answers differ the program asks again, up to three times.
OTHER = (b"Horse", SECRET + b" ", b"", SECRET + bytes(2000 - len(SECRET)))
for again in range(3):
    child = begin(data=plain)
    for i in range(again):
        answer(SECRET + b"\n", f"first prompt of round {i + 1}")
        answer(OTHER[i] + b"\n", f"second prompt of round {i + 1}")
    answer(SECRET + b"-new\n", "first prompt of the last round")
    answer(SECRET + b"-new\n", "second prompt of the last round")
    sealed = end(child, 0, f"equal answers after {again} rounds").out
    expect_equal((0, plain), open_independently(sealed, passphrase=SECRET + b"-new"), f"after {again} rounds")
    expect_equal(again, seen.count(b"do not match"), "number of reported differences")
child = begin(data=plain)
for i in range(3):
    answer(SECRET + b"\n", f"first prompt of round {i + 1}")
    answer(OTHER[i + 1] + b"\n", f"second prompt of round {i + 1}")
got = end(child, 2, "answers that differ three times")
expect_equal(b"", got.out, "output")
if b"the passphrases do not match" not in got.err:
    fail(f"expected an error about a difference, got {got.err!r}")
child = begin(data=quick)
answer(b"\n", "prompt")
expect_equal(b"", end(child, 2, "empty passphrase").out, "output")

# ^C, at the first and at the second prompt.
for answers, options in ((0, []), (1, []), (0, ["-d"])):
    child = begin(*options, data=quick)
    for _ in range(answers):
        answer(SECRET + b"\n", "first prompt")
    await_prompt("prompt before ^C")
    os.write(master, b"\x03")
    expect_equal(b"", end(child, -signal.SIGINT, f"^C at prompt {answers + 1}").out, "output")
for number in STOP_SIGNALS:
    child = begin("-o", "unfinished", data=quick)
    await_prompt("prompt before a signal")
    child.send_signal(number)
    expect_equal(b"", end(child, -number, "a signal at the prompt").out, "output")
    expect_equal([], unfinished_files(), "unfinished files")

# Unused input does not stay in the terminal, however the program ends, even while output to the terminal is stopped
# (^S).
for what, stop in (("a signal", False), ("a signal while output is stopped", True)):
    child = begin("-d", data=quick)
    await_prompt(f"prompt before {what}")
    os.write(master, b"Corr" + (b"\x13" if stop else b""))
    look(0.1)
    child.send_signal(signal.SIGTERM)
    end(child, -signal.SIGTERM, what)
    if stop:
        os.write(master, b"\x11")
    os.write(master, b"next\n")
    if not select.select([slave], [], [], PATIENCE)[0]:
        fail(f"{what}: expected a line to be readable")
    expect_equal(b"next\n", os.read(slave, 1000), f"next line on the terminal after {what}")

# Both answers at once, as when pasted.
child = begin(data=plain)
await_prompt("prompt before a paste")
os.write(master, SECRET + b"\n" + SECRET + b"\n")
expect_equal((0, plain), open_independently(end(child, 0, "pasted").out, passphrase=SECRET), "the sealed file")

# Rekeying asks once for the old passphrase and, after that has opened the file, twice for the new one.
for asking, questions in (
    (["--rekey", "-p", "--new-passphrase"], [b"passphrase", b"new passphrase", b"repeat the passphrase"]),
    (["--rekey", "-k", key, "--new-passphrase"], [b"new passphrase", b"repeat the passphrase"]),
    (["--rekey", "-p", "--new-key", key], [b"passphrase"]),
):
    child = begin(data=quick, asking=asking)
    for question in questions:
        await_prompt(f"{asking}")
        if not re.search(rb"(^|\n)[a-z ]*" + question + rb": $", seen.replace(b"\r", b"")):
            fail(f"{asking}: expected to be asked for the {question.decode()}, got {seen!r}")
        os.write(master, (SECRET if question == b"passphrase" else b"Horse") + b"\n")
    rekeyed = end(child, 0, f"{asking}").out
    secret = {"passphrase": b"Horse"} if "--new-passphrase" in asking else {"key": KEY}
    expect_equal((0, plain), open_independently(rekeyed, **secret), f"{asking}: the rekeyed file")
child = begin(data=quick, asking=["--rekey", "-p", "--new-passphrase"])
for _ in range(3):
    answer(b"Horse\n", "old passphrase")
expect_equal(b"", end(child, 3, "wrong old passphrase, without a prompt for a new one").out, "output")
child = begin(data=quick, asking=["--rekey", "-k", key, "--new-passphrase"])
for i in range(3):
    answer(SECRET + b"\n", "new passphrase")
    answer(b"Horse\n", "another new passphrase")
expect_equal(b"", end(child, 2, "new passphrases that differ").out, "output")

# Without a terminal.
for options in ([], ["-d"]):
    child = begin(*options, data=quick, start_new_session=True)
    got = end(child, 1, "no terminal")
    expect_equal(b"", got.out, "output without a terminal")
    if got.err.decode() != (
        "gpuaes-stream: error: cannot ask for the passphrase: there is no terminal\n"
        "gpuaes-stream: hint: use --passphrase-file or --passphrase-command\n"
    ):
        fail(f"expected an error about the terminal and a hint that names the options, got {got.err!r}")
sys.stdout.flush()
os._exit(0)
PYTHON
