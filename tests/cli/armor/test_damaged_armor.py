"""Text that is not exactly one armored stream is refused, and the message names the line. What was verified before is
written; the last segment is not written without a valid END line."""

import pytest

from armor import BEGIN, END, armor
from matrix import thinned
from programs import KEY, NOT_ENCRYPTED, each_way, expect_same, some_bytes

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402
from damage import HEADER, QUICK, SEALED, SEGMENT  # noqa: E402


def changes(text):
    """The text with a character changed, removed or inserted, or with lines removed, repeated or exchanged, and whether
    it still opens: only the newline at the end can be left out, or replaced by a carriage return."""
    new = [b"A", b"B", b"+", b"=", b"-", b" ", b"\n", b"\r", b"\0", b"\x80", b"_"]
    for k, at in enumerate(thinned(range(len(text)))):
        old = text[at : at + 1]
        other = next(c for c in new[k % len(new) :] + new if c != old)
        yield text[:at] + other + text[at + 1 :], at == len(text) - 1 and other == b"\r"
        yield text[:at] + text[at + 1 :], at == len(text) - 1
        if 0 < at < len(text) - 1 and (other, old) != (b"\r", b"\n"):
            yield text[:at] + other + text[at:], False
    yield from [(text[:-1] + b" ", False), (text[:-1] + b"\t", False), (text[:-1] + b"\r", True)]
    lines = text.splitlines(keepends=True)
    for i in range(len(lines)):
        yield b"".join(lines[:i] + lines[i + 1 :]), False
        yield b"".join(lines[:i] + lines[i : i + 1] + lines[i:]), False
        for j in range(i):
            yield b"".join([*lines[:j], lines[i], *lines[j + 1 : i], lines[j], *lines[i + 1 :]]), False


def test_a_change_never_gives_other_plaintext(batch, key):
    for run, (changed, opens) in each_way(batch, changes(armor(sf.seal(b"some text\n", [KEY])))):
        found = run("-q", "-d", "-k", key, *QUICK, status=None, input=changed)
        assert found.status == 0 if opens else found.status in (1, 3, 4), changed
        assert found.out == (b"some text\n" if opens else b""), changed


def test_truncated_armor(batch, key):
    text = armor(sf.seal(b"some text\n", [KEY]))
    for run, length in each_way(batch, thinned(range(len(text) - 1))):
        found = run("-q", "-d", "-k", key, *QUICK, status=4, input=text[:length])
        assert found.out == b"" and (length < 14 or found.error.startswith("the input is truncated")), length


# --- Messages ------------------------------------------------------------------------------------------------------

PLAIN = some_bytes(2 * SEGMENT + 1000)
TEXT = armor(sf.seal(PLAIN, [KEY]))
SHORT = armor(sf.seal(b"some text\n", [KEY]))
LINES = TEXT.splitlines()
LAST = len(LINES)  # the number of the END line
MIDDLE = 2 + (HEADER + SEALED) // 48 + 5  # a line in the second segment
GOOD = ((MIDDLE - 2) * 48 - HEADER) // SEALED * SEGMENT  # bytes of plaintext before it

UNKNOWN = "the input is not in a known format"
IN_ONE_LINE = "the armor in the input has lost its line breaks"
NO_END = "the input is truncated: the armor has no END line"
NEITHER = "line {} of the input is neither Base64 nor the END line of armor"
TOO_LONG = "line {} of the input has more than 64 characters"
INCOMPLETE = "line {} of the input encodes fewer than 48 bytes but is not the last line of the data"
NOT_BEGIN = "line {} of the input is not the BEGIN line of armor"
AFTER_END = "line {} of the input follows the END line of the armor"
NO_DATA = "the input is not in the sealed format: it does not begin with 'gpuaes-stream/1' and a newline"
HINTS = {UNKNOWN: NOT_ENCRYPTED, NO_DATA: NOT_ENCRYPTED,
         IN_ONE_LINE: "break it after the BEGIN line, after every 64 characters and before the END line",
         AFTER_END: "remove everything around the armor; decrypt several armored files one at a time"}


def change(number, new):
    """The text with another line in place of that one; None removes it."""
    lines = [*LINES[: number - 1], *([] if new is None else [new]), *LINES[number:]]
    return b"".join(line + b"\n" for line in lines)


def outside():
    """Changes around the data: the text, the error, the number of the line, and the bytes of plaintext before that."""
    for text in (b"Hello,\n\n" + TEXT, b"> " + TEXT.replace(b"\n", b"\n> "), TEXT.lower(),
                 b"\n" * 1025 + TEXT):
        yield text, UNKNOWN, None, None
    for text, line in ((b" " + TEXT, 1), (b"\n" + change(1, BEGIN + b" "), 2), (change(1, BEGIN[:-1]), 1),
                       (change(1, BEGIN.replace(b"ENCRYPTED FILE", b"SECRET KEY")), 1)):
        yield text, NOT_BEGIN, line, None
    yield change(1, BEGIN + b"\nVersion: 1\n"), NEITHER, 2, None
    for junk in b"--\nAlice\n", b"x", b"\0", TEXT, b"\n" + TEXT, b"\n" * 1025:
        line = LAST + (1025 if not junk.strip() else 1 + junk.startswith(b"\n"))
        yield TEXT + junk, AFTER_END, line, 2 * SEGMENT
    yield change(LAST, None), NO_END, None, 2 * SEGMENT
    yield TEXT[:-2], NO_END, None, 2 * SEGMENT
    for end in END[:-1], END + b" ", b" " + END, END.lower(), END.replace(b"GPUAES-STREAM", b"AGE"), BEGIN, b"", b"=":
        yield change(LAST, end), NEITHER, LAST, 2 * SEGMENT
    for text in b"-----BEGIN GPU", BEGIN, BEGIN + b"\n":
        yield text, NO_END, None, None
    for text in TEXT, SHORT:
        for joined in text.replace(b"\n", b""), text.replace(b"\n", b" "), text.replace(b"\n", b"\r"):
            for end in b"", b"\n":
                yield joined + end, IN_ONE_LINE, None, None
    yield SHORT.replace(b"\n", b"")[:-6], NO_END, None, None
    yield BEGIN + b"\n" + END + b"\n", NO_DATA, None, None


def within():
    """Changes to lines of data."""
    data = b"".join(LINES[1:-1])
    for width in 4, 60, 63, 65, 76, 128, len(data):
        wrapped = [data[at : at + width] for at in range(0, len(data), width)]
        error = TOO_LONG if width > 64 else NEITHER if width % 4 else INCOMPLETE
        yield b"\n".join([BEGIN, *wrapped, END, b""]), error, 2, None
    old, following = LINES[MIDDLE - 1 : MIDDLE + 1]
    for new in (b"", old[:-1], old[:60] + b"====", old[:30] + b"==" + old[32:], old[:-1] + b"-", b"_" + old[1:],
                b" " + old[1:], old[:-1] + b"\0", b"\xc3\xa9" + old[2:], old[:-1] + b"\r", b"=" * 64, b"-----BEGIN"):
        yield change(MIDDLE, new), NEITHER, MIDDLE, GOOD
    yield change(MIDDLE, old + b"\n"), NEITHER, MIDDLE + 1, GOOD
    for new in old + b" ", b"\t" + old, old + b"\r\r", old + following, b"A" * (1 << 17):
        yield change(MIDDLE, new), TOO_LONG, MIDDLE, GOOD
    for new in old[:32] + b"\n" + old[32:], old[:-4]:
        yield change(MIDDLE, new), INCOMPLETE, MIDDLE, GOOD
    yield change(MIDDLE, old[:-1] + b"="), None, None, GOOD  # valid or not, depending on the bits


@pytest.mark.parametrize("cases", [outside, within])
def test_the_message_names_the_line(batch, key, cases):
    for run, (text, error, line, good) in each_way(batch, cases()):
        want = error and error.format(line)
        if error and good is not None:
            want += f"; {good} bytes of plaintext before that were verified"
        for options, plain in (QUICK, PLAIN[: good or 0]), (["--test"], b""):
            for via in "pipe", "file":
                found = run("-q", "-d", "-k", key, *options, status=4, input=text, via=via)
                hint = HINTS.get(error, "" if good is None else "copy or download it again")
                assert error is None or (found.error, found.hint) == (want, hint)
                expect_same(plain, found.out)
