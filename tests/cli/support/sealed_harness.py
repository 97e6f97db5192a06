"""What the tests of the authenticated formats share: an independent implementation of them, as `sf`, and runs of the
program from start to end, each with its expectations. See need_cryptography in lib.sh."""

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
QUICK = ["-l", "cpu:1", "-b", "16K"]  # for what does not depend on either

Result = collections.namedtuple("Result", "code out err")


def secret_file(name, content):
    """A new file that only we can read."""
    with open(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as f:
        f.write(content)
    return name


def run(*options, data=b"", via="pipe", **popen):
    """via: what standard input is, a pipe or a file."""
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
        fail(f"{command}: expected an end within {patience} s")
    return Result(done.returncode, done.stdout, done.stderr)


def expect(want, out, *options, what, data=b"", via="pipe", **popen):
    """That the program ends with `want`, has written `out`, and says what it should. Returns the Result."""
    what = f"{what} ({' '.join(options)})"
    got = run(*options, data=data, via=via, **popen)
    text = got.err.decode(errors="replace")
    if got.code != want:
        fail(f"{what}: expected exit status {want}, got {got.code} (stderr: {text})")
    expect_same(out, got.out, f"{what}, standard output")
    errors, hints = (len(re.findall(f"^gpuaes-stream: {kind}: ", text, re.M)) for kind in ("error", "hint"))
    if errors != (want != 0) or hints > (want != 0):
        fail(f"{what}: expected {int(want != 0)} error message, and a hint at most with an error, got: {text}")
    for line in text.splitlines():
        if not re.fullmatch(r"gpuaes-stream: (error|warning|hint): [^A-Z ].*[^. ]", line):
            fail(f"{what}: expected messages in lower case without full stop, got: {line}")
    return got


def expect_message(result, pattern, what):
    if not re.search(pattern, result.err.decode(), re.I):
        fail(f"{what}: expected stderr to match '{pattern}', got: {result.err.decode()}")


def expect_open(data, plaintext, *options, what, **more):
    """With the key, if options name no secret."""
    return expect(0, plaintext, "-d", *secrets(options), data=data, what=what, **more)


def expect_refused(want, data, *options, what, **more):
    """Not a byte of plaintext; the independent implementation's opinion is for the caller to ask."""
    return expect(want, b"", "-d", *secrets(options), data=data, what=what, **more)


def secrets(options):
    named = any(o in ("-k", "-p", "--passphrase-file") for o in options)
    return options if named else ("-k", key, *options)


def opinion(data, **secret):
    """What the independent implementation makes of it: exit status and plaintext."""
    try:
        return 0, sf.open_sealed(data, **(secret or {"key": KEY}))
    except sf.Unopened as error:
        return error.exit, getattr(error, "plaintext", b"")


def expect_damage(data, good, plaintext, *options, what, start=HEADER, cut=False, **more):
    """Exit 4 after just the first `good` segments of plaintext; the message names the offset of the segment after them
    (where the input is cut it may name its end instead) and the bytes written."""
    got = expect(4, plaintext[: good * SEGMENT], "-d", *secrets(options), data=data, what=what, **more)
    places = [str(start + good * SEALED)] + ([str(len(data))] if cut else [])
    expect_message(got, rf"\b({'|'.join(places)})\b", f"{what}: offset in the input")
    expect_message(got, rf"\b{len(got.out)}\b" if got.out else r"\b0\b|\bno\b|nothing", f"{what}: bytes written")
    return got


def flip(data, at, bit=0):
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def thinned(cases, step=5, lanes="", first=0):
    """All of them; or every step-th where each run takes long: under a sanitizer, and on CUDA lanes, which must start."""
    cases = list(cases)
    return cases[first % step :: step] if slow or lanes.startswith("cuda") else cases
