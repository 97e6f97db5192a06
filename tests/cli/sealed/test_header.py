"""A header that is damaged or malformed is refused before any output, and slots are tried until one opens."""

import os
import pathlib
import resource
import time

import pytest

from matrix import thinned
from processes import A_SECOND
from programs import (
    AGAIN_OR_SALVAGE, KEY, SANITIZED, each_way, expect_same, flipped, keygen, secret_file, some_bytes, stream)

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402
from damage import HEADER, QUICK, open_independently  # noqa: E402

PLAIN, PASSPHRASE, OTHER_KEY = some_bytes(20000), b"correct horse", bytes(range(32, 0, -1))
FILE_KEY, FOREIGN_KEY = os.urandom(32), os.urandom(32)
OWN, OTHERS, FOREIGN = sf.key_slot(FILE_KEY, KEY), sf.key_slot(FILE_KEY, OTHER_KEY), sf.key_slot(FOREIGN_KEY, KEY)
WORDS, FOREIGN_WORDS = (sf.passphrase_slot(key, PASSPHRASE, 10) for key in (FILE_KEY, FOREIGN_KEY))
DAMAGED = OWN[0], flipped(OWN[1], 40)

CORRUPT = "the input is corrupt at byte {}, in its header: {}; nothing was written"
MODIFIED = "the header or its MAC was modified"
DIFFERENT = "the input is corrupt at byte 119, in its header, or was encrypted with a different label; nothing was written"
UNKNOWN = "the input is not in a known format"
NOT_SEALED = "the input is not in the sealed format: it does not begin with 'gpuaes-stream/1' and a newline"
TRUNCATED = "the input is truncated after byte {}, in its header; nothing was written"
WRONG_KEY = "none of the given keys opens the input"


@pytest.fixture
def words(work):
    """The options for the passphrase."""
    return ["--passphrase-file", secret_file(work / "passphrase", PASSPHRASE)]


def seal(slots, **fields):
    return sf.seal(PLAIN, slots=slots, file_key=FILE_KEY, **fields)


def slot(kind, size):
    return kind, bytes(i & 255 for i in range(size))


def expect_refused(run, data, status, error, secret):
    """With that error, or any if it is None. The independent reader agrees."""
    named = {"key": KEY} if "-k" in secret else {"passphrase": PASSPHRASE}
    assert open_independently(data, **named) == (status, b""), error
    found = run("-q", "-d", *secret, *QUICK, status=status, input=data)
    assert (found.out, found.error) == (b"", error or found.error)


def expect_open(run, data, secret):
    expect_same(PLAIN, run("-q", "-d", *secret, *QUICK, input=data).out)


def flips(sealed, start, fields):
    """Flips each bit of short fields, and a bit of each byte of others. Yields the result and the status, or None if
    that depends on the bit."""
    for size, status in fields:
        for at in range(start, start + size):
            for bit in range(8) if size <= 4 else [3 * at % 8]:
                yield flipped(sealed, at, bit=bit), status
        start += size


def test_a_changed_bit_is_detected(batch, key, words):
    begin = [(14, 4), (1, None), (1, 4), (1, None), (1, 4), (2, 4)]
    slot, end = [(1, None), (2, 4)], [(32, 4), (24, 4), (32, 4)]
    with_words = sf.seal(PLAIN, passphrase=PASSPHRASE, log_n=10)
    for secret, named, cases in (
            (["-k", key], {"key": KEY}, flips(sf.seal(PLAIN, [KEY]), 0, [*begin, *slot, (64, 3), *end])),
            (["-k", key], {"key": KEY}, flips(sf.seal(PLAIN, [OTHER_KEY, KEY]), 20, [*slot, (64, 4), *slot, (64, 3)])),
            (words, {"passphrase": PASSPHRASE}, flips(with_words, 23, [(1, None), (1, 4), (1, 4), (64, 3)]))):
        for run, (changed, status) in each_way(batch, thinned(cases, 6)):
            if changed[16] in (3, 4):  # files in parts, which the independent reader does not know
                assert run("-q", "-d", *secret, *QUICK, status=4, input=changed).out == b""
            else:
                expect_refused(run, changed, status or open_independently(changed, **named)[0], None, secret)


def test_another_suite(key):
    for suite, other, name in (1, 2, "kuznyechik"), (2, 1, "aes-256"):
        sealed = sf.seal(PLAIN, [KEY], suite=suite)
        changed = sealed[:16] + bytes([other]) + sealed[17:]
        for cipher in [], ["-c", name]:
            expect_refused(stream, changed, 4, CORRUPT.format(87, MODIFIED), ["-k", key, *cipher])


def malformed():
    """Headers that violate the format, with a correct MAC: status, error, slots and other arguments of seal()."""
    for suite in (0, *range(5, 16), *range(16, 256, 7), 129, 255):
        error = f"the input uses cipher suite {suite:02x}, which this version does not support"
        yield 1, error, [OWN], {"suite": suite}
    for end in b"2\n", b"9\n", b"0\n", b"10", b"12", b"99":
        error = "the input uses a version of the sealed format other than 1"
        yield 1, error, [OWN], {"magic": b"gpuaes-stream/" + end}
    for end in b"x\n", b"\n\n", b"1\r", b"1 ":
        yield 4, NOT_SEALED, [OWN], {"magic": b"gpuaes-stream/" + end}
    yield 4, UNKNOWN, [OWN], {"magic": b"GPUAES-STREAM/1\n"}
    unsupported = "the input has a slot of type {:02x} at byte {}, which this version does not support"
    for kind in (0, 0x80, 0x81, 0x82, 0x83, *range(0x84, 0x100, 5), 0xFF):
        yield 1, unsupported.format(kind, 87), [OWN, slot(kind, 64)], {}
    yield 1, unsupported.format(0, 20), [slot(0, 64)], {}
    yield 1, unsupported.format(0x80, 20), [slot(0x80, 0), OWN], {}

    # Wrong sizes of slots of known types, along with a slot that would open.
    for kind, right in sf.BODY_SIZES.items():
        for size in {0, 1, right - 1, right + 1, 2 * right, 64, 67, 80, 255, 256 + right} - {right}:
            what = f"a slot of type {kind:02x} has {size} bytes instead of {right}"
            yield 4, CORRUPT.format(88, what), [OWN, slot(kind, size)], {}
            yield 4, CORRUPT.format(21, what), [slot(kind, size), OWN], {}

    # Number and size of the slots.
    for count, slots in (0, [OWN]), (33, [OWN]), (64, [OWN]), (255, [OWN]), (33, [OWN] * 33), (0, []):
        yield 4, CORRUPT.format(17, f"it has {count} key slots; 1 to 32 are allowed"), slots, {"count": count}
    yield 4, CORRUPT.format(17, "it has 255 key slots; 1 to 32 are allowed"), [slot(5, 0)] * 254 + [OWN], {}
    exceed = [(87, [OWN], {"count": n}) for n in (2, 3, 32)] + [(20, [OWN], {"size": n}) for n in (0, 1, 2, 3, 66)]
    exceed += [(87, [OWN, OWN], {"size": 67}), (87, [OWN, slot(5, 100)], {"size": 67 + 50})]
    for at, slots, fields in exceed:
        yield 4, CORRUPT.format(at, "the slots exceed their stated size"), slots, fields
    for slots, fields in ([OWN, OWN], {"count": 1}), *(([OWN], {"size": n}) for n in (68, 69, 70, 134, 300)):
        yield 4, CORRUPT.format(87, "the slots do not fill their stated size"), slots, fields
    yield 4, TRUNCATED.format(len(seal([OWN]))), [OWN], {"size": 65535}

    # Slots that must not be combined with a passphrase, whichever secret is given.
    yield 4, CORRUPT.format(157, "there is a second passphrase slot"), [OWN, WORDS, WORDS], {}
    for kind, size in (3, 80), (4, 1168):
        yield (4, CORRUPT.format(157, "there are slots for both a passphrase and a recipient"),
               [OWN, WORDS, slot(kind, size)], {})
    for mac in bytes(32), sf.header_mac(KEY, b""), sf.header_mac(FILE_KEY, sf.MAGIC):
        yield 4, CORRUPT.format(87, MODIFIED), [OWN], {"mac": mac}


def test_a_malformed_header(batch, key, words):
    for run, (status, error, slots, fields) in each_way(batch, thinned(malformed(), 3)):
        for secret in (["-k", key], words) if WORDS in slots else (["-k", key],):
            expect_refused(run, seal(slots, **fields), status, error, secret)
    found = stream("-q", "-d", "-k", key, status=1, input=b"gpuaes-stream/2\n")
    assert (found.out, found.hint) == (b"", "try a later version of gpuaes-stream")


def test_a_truncated_header(batch, key, words):
    def error(n, header=HEADER):
        return ("the input is empty" if n == 0 else UNKNOWN if n < 14 else NOT_SEALED if n < 16
                else TRUNCATED.format(n) if n < header
                else f"the input is truncated after byte {n}; 0 bytes of plaintext before that were verified")

    one, two, with_words = sf.seal(PLAIN, [KEY]), sf.seal(PLAIN, [OTHER_KEY, KEY]), sf.seal(PLAIN, [], PASSPHRASE, 10)
    cases = [(one, ["-k", key], n, error(n)) for n in range(HEADER + 1)]
    cases += [(two, ["-k", key], n, error(n, HEADER + 67)) for n in range(80, HEADER + 67, 5)]
    cases += [(with_words, words, n, error(n, HEADER + 3)) for n in range(20, HEADER + 3, 13)]
    for i, (run, (sealed, secret, n, want)) in enumerate(each_way(batch, thinned(cases, 7))):
        found = run("-q", "-d", *secret, *QUICK, status=4, input=sealed[:n], via=("pipe", "file")[i % 2])
        assert (found.out, found.error) == (b"", want)
    for n in 0, 1, 15, 16, 17, 20, 174:
        for options, want in (["-f", "sealed"], NOT_SEALED if n < 16 else error(n)), (["-o", "out"], error(n)):
            found = stream("-q", "-d", "-k", key, *options, status=4, input=one[:n])
            assert (found.out, found.error, os.path.exists("out")) == (b"", want, False)


def test_slots_are_tried_until_one_opens(batch, key, words):
    unknown = [(kind, bytes(7 * kind)) for kind in range(5, 0x80)]  # all unknown types, 31 in each file
    unknown = [unknown[i : i + 31] for i in range(0, len(unknown), 31)]
    for some in unknown:
        expect_refused(batch.stream, seal(some), 3, "the input has only key slots that this version does not support",
                       ["-k", key])
    files = [[*some, OWN] for some in unknown] + [[OWN, *some] for some in unknown]
    files += [[(0x7F, bytes(size)), OWN] for size in (0, 1, 65535 - 3 - 67)]
    files += [[first, OWN] for first in (OWN, OTHERS, DAMAGED, FOREIGN, WORDS)]
    files += [[OWN, FOREIGN], [(3, bytes(80)), (4, bytes(1168)), OWN]]
    files += [[FOREIGN, DAMAGED, OTHERS, (0x7F, b"")] * 7 + [OWN]]
    for run, slots in each_way(batch, files):
        expect_open(run, seal(slots), ["-k", key])
    expect_open(stream, seal([OWN, FOREIGN, WORDS]), words)
    expect_open(stream, seal([FOREIGN, WORDS]), ["-k", key, *words])


def test_if_no_slot_opens_the_status_depends_on_the_slots(batch, key, words):
    """It is 3, or 4 if one unwraps but does not fit the header."""
    secret = ["-k", key]
    for slots in [DAMAGED], [OTHERS], [DAMAGED, OTHERS, (5, b"")]:
        expect_refused(stream, seal(slots), 3, WRONG_KEY, secret)
    expect_refused(stream, seal([FOREIGN]), 4, CORRUPT.format(87, MODIFIED), secret)
    expect_refused(stream, seal([DAMAGED, FOREIGN, OTHERS]), 4, CORRUPT.format(221, MODIFIED), secret)
    expect_refused(stream, seal([FOREIGN_WORDS, OWN]), 4, CORRUPT.format(157, MODIFIED), words)

    # Slots inserted, removed or changed without the file key: the header MAC is the old one.
    mac = sf.header(FILE_KEY, [OWN, OTHERS])[-32:]
    for run, slots in each_way(batch, [
            [OWN, OTHERS, FOREIGN], [FOREIGN, OWN, OTHERS], [OWN, FOREIGN], [OWN], [OTHERS, OWN],
            [OWN, (OTHERS[0], flipped(OTHERS[1], 63))], [OWN, (5, OTHERS[1])], [OWN, OWN], [OWN, OTHERS, (5, b"")]]):
        size = 20 + sum(3 + len(body) for _, body in slots)
        expect_refused(run, seal(slots, mac=mac), 4, CORRUPT.format(size, MODIFIED), secret)
    expect_same(PLAIN, stream("-q", "-d", "-k", key, input=seal([OWN, OTHERS], mac=mac)).out)

    # The header of another file with the same key, before the message of this file.
    message = seal([OWN])[20 + 67 + 32 :]
    expect_refused(stream, sf.header(FOREIGN_KEY, [FOREIGN]) + message, 4, DIFFERENT, secret)


@pytest.mark.parametrize("format", ["sealed", "age"])
def test_the_hint_for_a_modified_header_names_salvage(key, format):
    if format == "sealed":
        data, secret = flipped(seal([OWN]), 100), key
    else:
        recipient = keygen("--x25519", "-o", "identity").out.decode().strip()
        data, secret = bytearray(stream("-f", "age", "-r", recipient, input=PLAIN).out), "identity"
        at = data.index(b"\n--- ") + 10
        data[at] = ord("B" if data[at] == ord("A") else "A")
    pathlib.Path("damaged").write_bytes(data)
    found = stream("-q", "-d", "-k", secret, "damaged", status=4)
    assert found.hint == AGAIN_OR_SALVAGE
    assert stream("-q", "-t", "-k", secret, "damaged", status=4).hint == "copy or download it again"
    assert stream("-q", "--salvage", "-k", secret, "damaged", status=4).out == PLAIN


def test_invalid_scrypt_parameters_are_refused_immediately(batch, key, words):
    """But only if a passphrase is given. Valid are r = 8, p = 1 and log2 N from 10 to 20."""
    def decrypt(status, *slots):
        # Enough memory for a CPU lane and its ring, while scrypt with N = 2^21 would need 2 GiB.
        limit = None if SANITIZED else lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        return stream("-q", "-d", *words, *QUICK, status=status, input=seal(slots), preexec_fn=limit)

    for log_n in 10, 11, 14:
        expect_same(PLAIN, decrypt(0, sf.passphrase_slot(FILE_KEY, PASSPHRASE, log_n)).out)
    refused = [(n, 8, 1) for n in (0, 1, 8, 9, 21, 22, 31, 32, 63, 64, 127, 128, 255)]
    refused += [(10, r, 1) for r in (0, 1, 7, 9, 16, 128, 255)] + [(10, 8, p) for p in (0, 2, 16, 255)]
    for n, r, p in [*refused, (0, 0, 0), (255, 255, 255), (10, 1, 8), (20, 255, 255), (17, 0, 0)]:
        slots = [(sf.PASSPHRASE, bytes([n, r, p]) + os.urandom(64)), OWN]
        before = time.monotonic()
        found = decrypt(4, *slots)
        assert time.monotonic() - before < A_SECOND
        error = CORRUPT.format(23, f"the scrypt parameters log2 N = {n}, r = {r}, p = {p} are not allowed")
        assert (found.out, found.error) == (b"", error)
        expect_open(batch.stream, seal(slots), ["-k", key])
