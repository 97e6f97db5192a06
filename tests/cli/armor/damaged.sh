#!/usr/bin/env bash
# Text that is not exactly one armored stream is refused with status 4, and the message names the line. What was verified
# before is written; the last segment is not written without a valid END line.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from armor import *
from sealed_harness import *

NO_END = "the input is truncated: the armor has no END line"
NEITHER = "line {} of the input is neither Base64 nor the END line of armor"
TOO_LONG = "line {} of the input has more than 64 characters"
INCOMPLETE = "line {} of the input encodes fewer than 48 bytes but is not the last line of the data"
NOT_BEGIN = "line {} of the input is not the BEGIN line of armor"
AFTER_END = "line {} of the input follows the END line of the armor"
ONE_HINT = "remove everything around the armor; decrypt several armored files one at a time"
UNKNOWN = "the input is not in a known format"


def check(text, error, good, what, hint=None):
    """Decryption fails after `good` bytes of plaintext, or in the header if that is None."""
    if good is not None:
        error += f"; {good} bytes of plaintext before that were verified"
    for options in (QUICK, ["--test"]) if hint is None else (QUICK,):
        out = b"" if "--test" in options else plain[: good or 0]
        for via in ("pipe", "file"):
            got = expect(4, out, "-d", "-k", key, *options, data=text, via=via, what=what)
            want = f"gpuaes-stream: error: {error}\n" + (f"gpuaes-stream: hint: {hint}\n" if hint else "")
            if error != UNKNOWN:
                expect_equal(want, got.err.decode(), what)
            expect_message(got, error, what)


def line_of(at):
    """The number of the line that has this byte of the stream."""
    return 2 + at // 48


def change(number, new):
    """The text with another line in place of that one; None removes it."""
    lines = text.splitlines()
    lines[number - 1 : number] = [] if new is None else [new]
    return b"".join(line + b"\n" for line in lines)


def line(number):
    return text.splitlines()[number - 1]


plain = make_input(2 * SEGMENT + 1000)
sealed = sf.seal(plain, [KEY])
text = armor(sealed)
last = len(text.splitlines())  # the END line
middle = line_of(HEADER + SEALED) + 5  # in the second segment

# Text around the armor, and two messages.
check(b"Hello,\n\n" + text, UNKNOWN, None, "text before")
check(b"\xef\xbb\xbf" + text, UNKNOWN, None, "a byte order mark")
check(b"> " + text.replace(b"\n", b"\n> "), UNKNOWN, None, "quoted")
check(text.lower(), UNKNOWN, None, "lowercase")
check(b"\n" * 1025 + text, UNKNOWN, None, "too much white space before")
check(b" " + text, NOT_BEGIN.format(1), None, "an indented BEGIN line")
check(b"\n" + change(1, BEGIN + b" "), NOT_BEGIN.format(2), None, "a space after the BEGIN line")
check(change(1, BEGIN[:-1]), NOT_BEGIN.format(1), None, "a dash is missing")
check(change(1, BEGIN.replace(b"ENCRYPTED FILE", b"SECRET KEY")), NOT_BEGIN.format(1), None, "another label")
check(change(1, BEGIN + b"\nVersion: 1\n"), NEITHER.format(2), None, "a header line")
for junk in (b"--\nAlice\n", b"x", b"\0", text, b"\n" + text):
    number = last + 1 + junk.startswith(b"\n")
    check(text + junk, AFTER_END.format(number), 2 * SEGMENT, f"{junk[:9]} after the END line", ONE_HINT)
check(text + b"\n" * 1025, AFTER_END.format(last + 1025), 2 * SEGMENT, "too much white space after", ONE_HINT)

# A missing or different END line.
check(change(last, None), NO_END, 2 * SEGMENT, "no END line")
check(text[:-2], NO_END, 2 * SEGMENT, "part of the END line")
for end in (END[:-1], END + b" ", b" " + END, END.lower(), END.replace(b"GPUAES-STREAM", b"AGE"), BEGIN, b"", b"="):
    check(change(last, end), NEITHER.format(last), 2 * SEGMENT, f"END line {end}")
check(b"-----BEGIN GPU", NO_END, None, "part of the BEGIN line")
check(BEGIN, NO_END, None, "the BEGIN line without a newline")
check(BEGIN + b"\n", NO_END, None, "the BEGIN line alone")
check(BEGIN + b"\n" + END + b"\n", "the input is not in the sealed format: it does not begin with 'gpuaes-stream/1' and"
      " a newline", None, "no data", "name the format with -f if it is one of cobblestone, openssl, raw")

# Lines of other lengths.
data = b"".join(text.splitlines()[1:-1])
for width in (4, 60, 63, 65, 76, 128, len(data)):
    wrapped = [data[at : at + width] for at in range(0, len(data), width)]
    error = (TOO_LONG if width > 64 else NEITHER if width % 4 else INCOMPLETE).format(2)
    check(b"\n".join([BEGIN, *wrapped, END, b""]), error, None, f"lines of {width}")
first = (middle - 2) * 48  # byte of the stream
good = (first - HEADER) // SEALED * SEGMENT
old = line(middle)
for new, error, number in (
    (b"", NEITHER, middle), (old + b"\n", NEITHER, middle + 1), (old[:-1], NEITHER, middle), (old + b" ", TOO_LONG, middle),
    (b"\t" + old, TOO_LONG, middle), (old + b"\r\r", TOO_LONG, middle), (old[:32] + b"\n" + old[32:], INCOMPLETE, middle),
    (old[:-4], INCOMPLETE, middle), (old[:-1] + b"=", None, middle), (old + line(middle + 1), TOO_LONG, middle),
    (old[:60] + b"====", NEITHER, middle), (old[:30] + b"==" + old[32:], NEITHER, middle), (old[:-1] + b"-", NEITHER, middle),
    (b"_" + old[1:], NEITHER, middle), (b" " + old[1:], NEITHER, middle), (old[:-1] + b"\0", NEITHER, middle),
    (b"\xc3\xa9" + old[2:], NEITHER, middle), (old[:-1] + b"\r", NEITHER, middle), (b"=" * 64, NEITHER, middle),
    (b"-----BEGIN", NEITHER, middle), (b"A" * (1 << 17), TOO_LONG, middle),
):
    if error:
        check(change(middle, new), error.format(number), good, f"line {middle} is {new[:80]}")
    else:  # valid or not, depending on the bits
        expect(4, plain[:good], "-d", "-k", key, *QUICK, data=change(middle, new), what=f"line {middle} is {new}")
PYTHON
