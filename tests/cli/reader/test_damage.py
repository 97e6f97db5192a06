"""SealedFile returns nothing that is damaged, and refuses files that are malformed or not complete."""

import io
import os
import struct
import time

import pytest

from programs import KEY, flipped, some_bytes

pytest.importorskip("cryptography")
import age_format as af  # noqa: E402
import parts_format as pf  # noqa: E402
import sealed_format as sf  # noqa: E402
from damage import HEADER, SEALED, SEGMENT  # noqa: E402
from sources import KINDS, make, opened, seal  # noqa: E402
from sealedfile import NotAuthentic, SealedFile, SealedFileError  # noqa: E402

PLAIN = some_bytes(2 * SEGMENT + 100)
IDENTITY = af.identity_text().encode()


def refuse(sealed, text, **secret):
    """It cannot be opened."""
    with pytest.raises(NotAuthentic) as raised:
        SealedFile(io.BytesIO(sealed), **(secret or {"key": KEY}))
    assert text in str(raised.value)


def refuse_segment(sealed, number, begin, end, size=SEGMENT, **secret):
    """It can be opened, and only the segment with that number, which has this range of the plaintext, is refused."""
    plain = PLAIN if size == SEGMENT else some_bytes(3 * size)
    with SealedFile(io.BytesIO(sealed), **(secret or {"key": KEY})) as file:
        for at in range(0, len(plain), size // 4):
            if begin - size // 4 < at < end:
                with pytest.raises(NotAuthentic, match=f"segment {number} is not authentic"):
                    file.read_at(at, size // 4)
                file.seek(at)
                buffer = bytearray(b"x" * (size // 4))
                with pytest.raises(NotAuthentic):
                    file.readinto(buffer)
                assert file.tell() == at
            else:
                assert file.read_at(at, size // 4) == plain[at : at + size // 4]


@pytest.mark.parametrize("kind", KINDS)
def test_truncated_and_extended_files_are_not_opened(key, kind):
    sealed, secret = make(kind, PLAIN + bytes(100_000), key)
    unit = SEALED if kind != "age" else af.SEALED
    sizes = {*range(300), *(len(sealed) - n for n in (1, 8, 15, 16, 17, 80, 100, unit, unit + 1, 2 * unit))}
    for size in sorted(sizes):
        with pytest.raises(NotAuthentic):
            SealedFile(io.BytesIO(sealed[:size]), **secret)
    for more in (b"\0", sealed[-16:], bytes(unit), sealed):
        with pytest.raises(NotAuthentic):
            SealedFile(io.BytesIO(sealed + more), **secret)


@pytest.mark.parametrize("kind", KINDS)
def test_no_changed_byte_is_returned(key, kind):
    """A change anywhere is an error, unless it is in a segment or a part that is not read."""
    sealed, secret = make(kind, PLAIN, key)
    for at in [*range(0, 300, 7), *range(300, len(sealed), 499), *range(len(sealed) - 300, len(sealed), 7)]:
        with pytest.raises(SealedFileError):
            opened(flipped(sealed, at), **secret)


def test_segments_that_were_changed_swapped_or_copied(key):
    sealed = seal(PLAIN, "-k", key)
    for number in range(2):
        begin = HEADER + number * SEALED
        for at in (begin, begin + SEALED - 1):
            refuse_segment(flipped(sealed, at), number, number * SEGMENT, (number + 1) * SEGMENT)
    refuse(flipped(sealed, HEADER + 2 * SEALED), "segment 2 is not authentic")
    first, second = sealed[HEADER:][:SEALED], sealed[HEADER + SEALED :][:SEALED]
    end = sealed[HEADER + 2 * SEALED :]
    refuse_segment(sealed[:HEADER] + first + first + end, 1, SEGMENT, 2 * SEGMENT)
    refuse_segment(sealed[:HEADER] + second + second + end, 0, 0, SEGMENT)
    refuse(sealed[:HEADER] + first + end, "segment 1 is not authentic")
    other = seal(PLAIN, "-k", key)
    refuse_segment(sealed[:HEADER] + other[HEADER:][:SEALED] + sealed[HEADER + SEALED :], 0, 0, SEGMENT)


def test_segments_of_age_files():
    """The last one has a mark, and only the first may be empty."""
    sealed = af.seal(some_bytes(3 * af.SEGMENT))
    begin, secret = len(sealed) - 3 * af.SEALED, {"key": IDENTITY}
    refuse_segment(flipped(sealed, begin), 0, 0, af.SEGMENT, af.SEGMENT, **secret)
    refuse(flipped(sealed, begin + 2 * af.SEALED), "segment 2 is not authentic", **secret)
    refuse(sealed[: -af.SEALED], "segment 1 is not authentic", **secret)
    refuse(sealed[: -af.SEALED + 15], "truncated", **secret)
    file_key, salt = bytes(16), bytes(16)
    head = af.header(file_key, [af.x25519_stanza(file_key)]) + salt
    full = af.segment(file_key, salt, 0, False, some_bytes(af.SEGMENT))
    refuse(head + full + af.segment(file_key, salt, 1, True, b""), "truncated", **secret)
    last = af.segment(file_key, salt, 0, True, some_bytes(af.SEGMENT))
    refuse(head + last + af.segment(file_key, salt, 1, False, b"x"), "segment 1", **secret)


@pytest.mark.parametrize("log_n", ["0", "010", "23", "+1", ""])
def test_scrypt_parameters_of_stanzas(log_n):
    stanzas = [(["scrypt", af.b64(bytes(16)), *([log_n] if log_n else [])], bytes(32))]
    refuse(af.seal(PLAIN, stanzas), "", passphrase="x")


AGE_STANZA = af.x25519_stanza(bytes(16))


@pytest.mark.parametrize("stanzas, text", [
    ([(["X25519", af.b64(bytes(32))], bytes(32))], "a stanza is malformed"),  # the shared secret is zero
    ([(["X25519", af.b64(b"x" * 32)], bytes(31))], "a stanza is malformed"),
    ([(["X25519", af.b64(b"x" * 31)], bytes(32))], "a stanza is malformed"),
    ([(["X25519", af.b64(b"x" * 32), "more"], bytes(32))], "a stanza is malformed"),
    ([AGE_STANZA, (["X25519"], bytes(32))], "a stanza is malformed"),
    ([(["X25519", af.b64(b"x" * 32)[:-1] + "B"], bytes(32))], "a stanza is malformed"),  # not canonical
    ([(["scrypt"], b""), (["X25519", "AAAA"], b"")], "a passphrase stanza excludes all others"),
    ([], "the header is malformed, too long or truncated"),
    ([(65 * ["a"], b""), AGE_STANZA], "the header is malformed, too long or truncated"),
    ([(["a" * (1 << 16)], b""), AGE_STANZA], "the header is malformed, too long or truncated"),
    ([(["a"], b"")] * 1024 + [AGE_STANZA], "the header is malformed, too long or truncated"),
    ([(["a"], bytes(12 << 20)), AGE_STANZA], "the header is malformed, too long or truncated"),
])
def test_malformed_headers_of_age_files(stanzas, text):
    refuse(af.seal(PLAIN, stanzas, bytes(16)), text, key=IDENTITY)


def test_a_wrong_mac_of_an_age_file():
    file_key, salt = bytes(16), bytes(16)
    head = af.header(file_key, [AGE_STANZA], mac=bytes(32))
    refuse(head + salt + b"".join(af.segments(file_key, salt, PLAIN)), "the header is damaged", key=IDENTITY)


@pytest.fixture
def pieces():
    """A file made of three parts, as header, parts, index and number of parts."""
    job = pf.new_job(keys=[KEY])
    sealed = pf.seal_parts(job, pf.cut(PLAIN, 3), of=3)
    return [job.head, *sealed, pf.make_index(job, sealed), struct.pack(">Q", 3)]


def test_damaged_parts(pieces):
    head, first, second, third, index, end = pieces

    def refuse_part(data, number, text):
        """Part 0 can still be read."""
        with SealedFile(io.BytesIO(b"".join(data)), key=KEY) as file:
            assert number == 0 or file.read_at(0, SEGMENT) == PLAIN[:SEGMENT]
            with pytest.raises(NotAuthentic, match=text):
                file.read_at(number * SEGMENT, SEGMENT)

    missing = "part {} is missing or damaged".format
    refuse_part([head, second, first, third, index, end], 0, missing(0))
    refuse_part([head, first, first, third, index, end], 1, missing(1))
    for at, text in ((0, missing(1)), (4, missing(1)), (8, missing(1)), (16, missing(1)), (41, missing(1)),
                     (17, "the label is wrong, or the file is damaged"), (73, "segment 0 is not authentic")):
        refuse_part([head, first, flipped(second, at), third, index, end], 1, text)
    without = "the index is missing or damaged"
    for data in ([head, index, end], [head, first, second, third, index], [*pieces, b"\0"], [head, first, second, third],
                 [*pieces[:-1], struct.pack(">Q", 2)], [*pieces[:-1], bytes(8)], [*pieces[:-1], b"\xff" * 8]):
        refuse(b"".join(data), without)
    refuse(b"".join([head, first, second, third, flipped(index, 73), end]), "segment 0 is not authentic")
    for data in ([head, first, second, index, end], [head, first, second, third, third, index, end]):
        refuse(b"".join(data), "the parts do not match the index")
    job = pf.Job(*pf.open_job(head + bytes(56), key=KEY)[:2], head)
    attempt = pf.frame(job, pf.PART, 1, 3, PLAIN[SEGMENT : 2 * SEGMENT])
    refuse_part([head, first, attempt, third, index, end], 1, missing(1))
    of_another_cut = pf.frame(job, pf.PART, 0, 4, PLAIN[:SEGMENT])
    refuse(b"".join([head, of_another_cut, second, third, pf.make_index(job, [of_another_cut, second, third]), end]),
           "the parts do not match the index")
    of_no_cut = pf.frame(job, pf.PART, 1, 0, PLAIN[SEGMENT : 2 * SEGMENT])
    refuse_part([head, first, of_no_cut, third, pf.make_index(job, [first, of_no_cut, third]), end], 1, missing(1))


# --- What costs time is done only after all checks that cost none ------------------------------------------------------

MAX_SECONDS = 0.5  # of CPU time, a small part of what each of these files once took
AGE, STANZA_LINE, MIB16 = b"age-encryption.org/v1\n", b"-> X25519 ", 16 << 20


@pytest.fixture
def quick():
    """The test must take little time."""
    begin = time.process_time()
    yield
    assert time.process_time() - begin < MAX_SECONDS


@pytest.mark.parametrize("begin, rest", [
    (AGE + STANZA_LINE, b"a"), (AGE + STANZA_LINE, b"a "), (AGE[:19], b"a"), (AGE + STANZA_LINE + b"a\n", b"A"),
    (AGE + STANZA_LINE + b"a\n\n", b"-"), (AGE, STANZA_LINE + b"a\n\n"),
], ids=["argument", "arguments", "version", "body", "MAC", "stanzas"])
def test_long_lines_and_many_stanzas_are_refused_at_once(quick, begin, rest):
    refuse(begin + rest * (MIB16 // len(rest)), "the header is malformed, too long or truncated", key=IDENTITY)


def test_many_slots_are_refused_at_once(quick):
    slots = b"\5\0\0" * 20000
    refuse(sf.MAGIC + bytes([1, 32]) + struct.pack(">H", len(slots)) + slots + bytes(5000), "the number of slots")


@pytest.mark.parametrize("kind", KINDS)
def test_scrypt_is_not_run_for_a_truncated_file(quick, kind):
    """It takes 1 GiB and some seconds, as the work factor is the largest one."""
    slot = [(2, bytes([20, 8, 1]) + bytes(64))]
    if kind == "age":
        sealed = af.seal(b"", [(["scrypt", af.b64(bytes(16)), "22"], bytes(32))], bytes(16))
    else:
        sealed = sf.header(KEY, slot, 1 if kind == "sealed" else 3) + bytes(100)
    refuse(sealed[:-90], "truncated" if kind != "parts" else "the index is missing or damaged", passphrase="x")


def test_parts_are_looked_for_only_if_the_index_is_authentic(quick):
    job = pf.new_job(keys=[KEY])
    pf.write_directory("dir", job, pf.seal_parts(job, [b"x"]))
    size = pf.frame_size(40 * pf.MAX_PARTS)
    with open("dir/index", "wb") as index:
        index.write(struct.pack(">BIIQ", 2, pf.MAX_PARTS, pf.MAX_PARTS, 40 * pf.MAX_PARTS))
        index.truncate(size)
        index.seek(size)
        index.write(struct.pack(">Q", pf.MAX_PARTS))
    with pytest.raises(NotAuthentic, match="the label is wrong, or the file is damaged"):
        SealedFile("dir", key=KEY)
    os.unlink("dir/head")
    with pytest.raises(NotAuthentic, match="dir/head is missing"):
        SealedFile("dir", key=KEY)
