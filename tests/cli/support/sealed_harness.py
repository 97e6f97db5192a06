"""Functions for tests of the authenticated formats: an independent implementation, as `sf`, and whole runs of the
program with checks of their results. See need_cryptography in lib.sh."""

import collections
import re

import sealed_format as sf
from harness import *

with open(key, "rb") as file:
    KEY = sf.parse_key_file(file.read())
OTHER_KEY = bytes(32 - i for i in range(32))
LANES = os.environ.get("LANES", "cpu:1").split()
SEGMENT, SEALED = 16384, 16400
HEADER = 175  # bytes before the segments, with one key slot
QUICK = ["-l", "cpu:1", "-b", "16K"]  # for tests that depend on neither

Result = collections.namedtuple("Result", "code out err")


def secret_file(name, content):
    """Writes a file that only its owner can read, and returns its name."""
    with open(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as f:
        f.write(content)
    return name


def run(*options, data=b"", via="pipe", **popen):
    """Runs the program to its end. Standard input is a pipe or, with via="file", a file."""
    command = [program, "-q", *options]
    patience = 200 if slow else 60
    try:
        if via == "pipe":
            done = subprocess.run(command, input=data, capture_output=True, timeout=patience, **popen)
        else:
            with open("stdin", "wb+") as f:
                f.write(data)
                f.seek(0)
                done = subprocess.run(command, stdin=f, capture_output=True, timeout=patience, **popen)
    except subprocess.TimeoutExpired:
        fail(f"{command}: expected it to end within {patience} s")
    return Result(done.returncode, done.stdout, done.stderr)


def expect(want, out, *options, what, data=b"", via="pipe", **popen):
    """Runs the program and checks exit status, output and the form of messages. Returns the Result."""
    what = f"{what} ({' '.join(options)})"
    got = run(*options, data=data, via=via, **popen)
    text = got.err.decode(errors="replace")
    if got.code != want:
        fail(f"{what}: expected exit status {want}, got {got.code} (stderr: {text})")
    expect_same(out, got.out, f"{what}, standard output")
    errors, hints = (len(re.findall(f"^gpuaes-stream: {kind}: ", text, re.M)) for kind in ("error", "hint"))
    if errors != (want != 0) or hints > (want != 0):
        fail(f"{what}: expected {int(want != 0)} error messages, and at most {int(want != 0)} hint, got: {text}")
    for line in text.splitlines():
        if not re.fullmatch(r"gpuaes-stream: (error|warning|hint): [^A-Z ].*[^. ]", line):
            fail(f"{what}: expected messages in lowercase without a period, got: {line}")
    return got


def expect_message(result, pattern, what):
    if not re.search(pattern, result.err.decode(), re.I):
        fail(f"{what}: expected stderr to match '{pattern}', got: {result.err.decode()}")


def expect_open(data, plaintext, *options, what, **more):
    """The program decrypts the data. Uses the key if the options name no secret."""
    return expect(0, plaintext, "-d", *secrets(options), data=data, what=what, **more)


def expect_refused(want, data, *options, what, **more):
    """The program refuses the data and writes no plaintext."""
    return expect(want, b"", "-d", *secrets(options), data=data, what=what, **more)


def secrets(options):
    named = any(o in ("-k", "-p", "--passphrase-file") for o in options)
    return options if named else ("-k", key, *options)


def open_independently(data, **secret):
    """The exit status and plaintext that the independent implementation gives."""
    try:
        return 0, sf.open_sealed(data, **(secret or {"key": KEY}))
    except sf.Unopened as error:
        return error.exit, getattr(error, "plaintext", b"")


def expect_opened_only_by(opening, files, secrets_of_reader, sealed, plain, what):
    """Checks that exactly the identities with numbers in `opening` open the data. Each identity is given as its file and
    as the argument of open_independently()."""
    for i, (file, secret) in enumerate(zip(files, secrets_of_reader, strict=True)):
        want = (0, plain) if i in opening else (3, b"")
        expect_equal(want, open_independently(sealed, **secret), f"{what}: independent reader, identity {i}")
        expect(*want, "-d", "-k", file, data=sealed, what=f"{what}, identity {i}")


def expect_damage(data, good, plaintext, *options, what, start=HEADER, cut=False, **more):
    """The program exits with 4 after exactly `good` segments of plaintext. The message names the number of bytes
    written and the offset of the next segment, or with `cut` the end of the input."""
    got = expect(4, plaintext[: good * SEGMENT], "-d", *secrets(options), data=data, what=what, **more)
    places = [str(start + good * SEALED)] + ([str(len(data))] if cut else [])
    expect_message(got, rf"\b({'|'.join(places)})\b", f"{what}: offset in the input")
    expect_message(got, rf"\b{len(got.out)}\b" if got.out else r"\b0\b|\bno\b|nothing", f"{what}: bytes written")
    return got


def expect_trailing(data, end, plaintext, *options, what, **more):
    """The program exits with 4 after the segments of plaintext before the last, because bytes follow the stream."""
    good = len(plaintext) // SEGMENT * SEGMENT
    got = expect(4, plaintext[:good], "-d", *secrets(options), data=data, what=what, **more)
    expect_message(got, f"error: the stream ends at byte {end}, but the input has trailing bytes; "
                        f"{good} bytes of plaintext before the last segment were verified\n", what)
    expect_message(got, f"hint: the first {end} bytes are a complete stream; decrypt only those, for example with head -c {end}\n", what)
    return got


def flip(data, at, bit=0):
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def thinned(cases, step=5, lanes="", first=0):
    """All cases, or every step-th if runs are slow: with sanitizers, and on CUDA lanes, which start slowly."""
    cases = list(cases)
    return cases[first % step :: step] if slow or lanes.startswith("cuda") else cases
