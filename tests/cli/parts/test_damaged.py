"""A file made of parts with a flipped bit anywhere, or truncated anywhere, or with bytes appended: decryption ends with
status 4. The message says where the damage is, and how much plaintext was verified before."""

import pytest

from programs import KEY, expect_same, flipped, stream

pytest.importorskip("cryptography")
import parts_format as pf  # noqa: E402
from damage import SEALED, SEGMENT  # noqa: E402
from parts_damage import HEAD, Changed, begins_of, expect_damage, pieces_of  # noqa: E402

LENGTHS = [20000, 0, 16384, 5, 40000]
EACH_SUITE = pytest.mark.parametrize("suite, step", [(pf.AES, 1), (pf.KUZNYECHIK, 5)])


def make(lengths, suite=pf.AES):
    """A file with parts of these lengths, its plaintext, and the offsets of the parts and the index."""
    pieces, plain = pieces_of(lengths)
    job = pf.new_job(suite, keys=[KEY])
    parts = pf.seal_parts(job, pieces)
    return pf.join(job, parts), plain, begins_of(parts)


# --- A flipped bit -------------------------------------------------------------------------------------------------


@EACH_SUITE
def test_every_byte_after_the_header_matters(batch, key, suite, step):
    """The tests of other suites change the header."""
    sealed, plain, _ = make([5, 0], suite)
    expect_damage(batch, key, (Changed(f"byte {at}", flipped(sealed, at, bit=at % 8), plain)
                               for at in range(HEAD, len(sealed), step)))


def places(sealed, begins):
    """Offsets of bytes in a file with parts of LENGTHS, and the error if one is damaged."""
    def corrupt(at, where):
        return f"the input is corrupt at byte {at}, in {where}"

    yield HEAD, corrupt(HEAD, "its header: it is not followed by part 0")
    for i, length in enumerate(LENGTHS):
        for at in (0, 3, 7, 17, 41, 72) if i > 0 else ():  # kind, number, of, salt and commitment
            yield begins[i] + at, corrupt(begins[i], f"the header of part {i}")
        for segment in range(length // SEGMENT + 1):
            at = begins[i] + 73 + segment * SEALED
            error = corrupt(at, f"part {i}")
            if segment == length // SEGMENT:
                error = f"the input is corrupt or truncated at byte {at}, in part {i}"
            yield at, error
            yield min(at + SEALED, begins[i + 1]) - 1, error
    index = begins[-1]
    missing = f"the input is corrupt or truncated at byte {index}: its index is missing or damaged"
    yield index, {"pipe": corrupt(index, "the header of part 5"), "file": missing}
    for at in (4, 8, 16):  # number, of and length
        yield index + at, {"pipe": corrupt(index, "the header of the index"), "file": missing}
    yield index + 17, corrupt(index, "the header of the index")
    yield index + 73, corrupt(index + 73, "the index")
    yield len(sealed) - 9, corrupt(index + 73, "the index")
    yield len(sealed) - 1, {"pipe": corrupt(len(sealed) - 8, "the number of parts")}


def test_the_message_names_the_first_damage(batch, key):
    sealed, plain, begins = make(LENGTHS)
    cases = [Changed(f"byte {at}", flipped(sealed, at, bit=at % 8), plain, says) for at, says in places(sealed, begins)]
    several = flipped(sealed, begins[2] + 80, begins[3] + 80, begins[4] + 20000)
    cases.append(Changed("three parts", several, plain, f"the input is corrupt at byte {begins[2] + 73}, in part 2"))
    expect_damage(batch, key, cases, everywhere=True)


def test_the_first_of_many_damaged_parts_counts(batch, key):
    """Many parts are in progress."""
    sealed, plain, begins = make([5000 + i for i in range(200)])
    cases = []
    for bad in ([0], [1, 2], [150, 199], [60, 61, 62]):
        for what, byte in (("header", 50), ("first segment", 100), ("tag", -1)):
            changed = sealed
            for i in bad:
                changed = flipped(changed, begins[i if byte > 0 else i + 1] + byte)
            cases.append(Changed(f"{what} of parts {bad}", changed, plain))
    expect_damage(batch, key, cases, everywhere=True)


def test_a_range_needs_only_the_index_and_its_own_parts(key):
    lengths = [5000 + i for i in range(200)]
    sealed, plain, begins = make(lengths)
    bad, end = sum(lengths[:100]), sum(lengths[:101])  # the plaintext of part 100
    for damaged, offset, length, good in ((100, 0, bad, bad), (100, end, 10000, 10000), (100, bad - 1, 1, 1),
                                          (100, bad, 1, 0), (100, 0, bad + 1, bad), (200, 0, 1, 0)):
        got = stream("-q", "--range", f"{offset}:{length}", "-k", key, input=flipped(sealed, begins[damaged] + 100),
                     via="file", status=0 if good == length else 4)
        expect_same(plain[offset : offset + good], got.out, f"{offset}:{length}")


# --- Truncated -----------------------------------------------------------------------------------------------------


def cut_at(sealed, sizes, plain, begins):
    """The file, cut to each of these sizes."""
    for size in sizes:
        i = max(k for k, begin in enumerate(begins) if begin <= size)
        if size < begins[0] + 73:  # before part 0 is known
            says = f"the input is truncated after byte {size}, in its header"
        elif i < len(begins) - 1 and size >= begins[i] + 73:
            says = None
        else:
            says = {"pipe": f"the input is truncated after byte {size}, in a part or the index"}
        yield Changed(f"the first {size} of {len(sealed)} bytes", sealed[:size], plain, says)


@EACH_SUITE
def test_a_file_that_is_truncated_anywhere_is_not_complete(batch, key, suite, step):
    sealed, plain, begins = make([5, 0], suite)
    expect_damage(batch, key, cut_at(sealed, range(HEAD, len(sealed), step), plain, begins))


LARGE = [16384, 20000, 0, 32768]


def test_truncated_near_boundaries_of_segments_and_frames(batch, key):
    sealed, plain, begins = make(LARGE)
    ends = [*begins, len(sealed) - 8, *(begin + 73 + i * SEALED for begin in begins[:2] for i in (0, 1))]
    sizes = {end + n for end in ends for n in (-17, -16, -1, 0, 1, 15, 16, 17)}
    expect_damage(batch, key, cut_at(sealed, sorted(s for s in sizes if HEAD + 73 <= s < len(sealed)), plain, begins))
