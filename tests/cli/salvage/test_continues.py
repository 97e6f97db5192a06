"""--salvage recovers the undamaged parts of a stream: zeros replace each bad segment, the lost ranges are listed on
standard error, the exit status is 4, and -o is kept. Also checked for files made of parts, and on all lanes."""

import functools
import itertools
import os
import pathlib

import pytest

from programs import KEY, SANITIZED, each_way, expect_same, flipped, lanes, some_bytes, spread, stream

pytest.importorskip("cryptography")
import parts_format as pf  # noqa: E402
import sealed_format as sf  # noqa: E402
from damage import HEADER, SEALED, SEGMENT  # noqa: E402
from parts_damage import VIAS, begins_of  # noqa: E402

LANES = lanes()
SOME_LANES = LANES[:: 2 if SANITIZED else 1]


def salvage(run, data, plain, lost, *options, stop=None, end_is_lost=False, via="file", out=False):
    """Checks output and messages. lost: for each range, the offset of the damage in the input, and its begin and end.
    stop: why salvage ended before the end of the input."""
    zeroed = bytearray(plain)
    for _, begin, end in lost:
        zeroed[begin:end] = bytes(end - begin)
    sink = ["-o", os.path.abspath("out")] if out else []
    pathlib.Path("out").unlink(missing_ok=True)
    got = run("--salvage", *options, *sink, input=data, via=via, status=4 if lost or stop else 0)
    if out:
        assert got.out == b""
    expect_same(bytes(zeroed), pathlib.Path("out").read_bytes() if out else got.out, options)
    warnings = [f"the input is corrupt at byte {at}; plaintext range {begin}:{end - begin} is lost"
                for at, begin, end in lost]
    if end_is_lost:
        at, begin, end = lost[-1]
        warnings[-1] = (f"the input is corrupt or truncated at byte {at}; "
                        f"plaintext range {begin}:{end - begin} and everything after it are lost")
    assert (got.warnings, got.notes, got.hint) == (warnings, [], "")
    zeros = sum(end - begin for _, begin, end in lost)
    ranges = f"{zeros} bytes of plaintext in {len(lost)} range{'' if len(lost) == 1 else 's'}"
    if stop:
        exception = f", except for {ranges}" if lost else ""
        assert got.error == (f"{stop}; {len(plain)} bytes of plaintext before that were verified{exception}; "
                             "nothing after that was recovered")
    elif end_is_lost:
        assert got.error == ("the input is truncated, its last segment is corrupt, or bytes were appended; "
                             f"{ranges} are lost, and everything after them")
    else:
        assert got.error == (f"the input is corrupt; {ranges} are lost" if lost else "")


def salvage_all(batch, cases):
    for run, (options, more) in each_way(batch, cases):
        salvage(stream if any(str(option).startswith("cuda") for option in options) else run, *options, **more)


# --- Whole streams -------------------------------------------------------------------------------------------------


@functools.cache
def make(kind, size):
    """A plaintext and a stream, and the size of its header."""
    plain = some_bytes(size)
    if kind == "cobblestone":
        return plain, sf.message(KEY, b"", plain), 56
    return plain, sf.seal(plain, [KEY], suite=2 if kind == "kuznyechik" else 1), HEADER


def spoil(data, header, bad):
    """The stream with these segments damaged."""
    for i in bad:
        data = flipped(data, min(header + i * SEALED + 7 * i % 100, len(data) - 1), bit=i % 8)
    return data


def ranges_of(bad, header, size):
    """The ranges that are lost if these segments are bad. Adjacent ones are merged."""
    for _, group in itertools.groupby(enumerate(bad), lambda pair: pair[1] - pair[0]):
        first, *_, last = [i for _, i in group] * 2
        yield header + first * SEALED, first * SEGMENT, min((last + 1) * SEGMENT, size)


def case(data, header, plain, bad, *options, **more):
    lost = list(ranges_of(bad, header, len(plain)))
    return (data, plain, lost, *options), {"end_is_lost": len(plain) // SEGMENT in bad and "stop" not in more, **more}


@pytest.mark.parametrize("kind, sizes", [
    ("sealed", [0, 10, SEGMENT, 7 * SEGMENT, 9 * SEGMENT + 5000]),
    ("cobblestone", [5 * SEGMENT + 100]),
    ("kuznyechik", [4 * SEGMENT + 100]),
])
def test_bad_segments_become_zeros(batch, key, kind, sizes):
    cases = []
    for lane in SOME_LANES if kind == "kuznyechik" else LANES:
        for size in sizes:
            plain, data, header = make(kind, size)
            last = size // SEGMENT
            choices = [[], [0], [last], [last // 2], [1, 2], [0, 1, 2], [last - 1, last], [0, 2, 4, 6], [0, last],
                       [3, 4, 5, last], range(last), range(last + 1), [i for i in range(last) if i % 3]]
            for number, bad in enumerate(spread(choices, 4 if SANITIZED or lane.startswith("cuda") else 100)):
                bad = sorted({i for i in bad if 0 <= i <= last})
                for chunk in ("16K", "48K", "1M"):
                    options = ["-l", lane, "-b", chunk, "-k", key, *(["-f", kind] if kind == "cobblestone" else [])]
                    cases.append(case(spoil(data, header, bad), header, plain, bad, *options,
                                      via=VIAS[(number + len(chunk)) % 2], out=number % 2 == 1))
    salvage_all(batch, cases)


def test_truncated(batch, key):
    """If fewer than 16 bytes follow the last whole segment, the end is missing. Otherwise the last segment is bad."""
    plain, data, _ = make("sealed", 4 * SEGMENT + 5000)
    cases = []
    for lane, whole in itertools.product(SOME_LANES, (0, 1, 3)):
        options = ["-l", lane, "-b", "32K", "-k", key]
        for more, bad in itertools.product((0, 1, 15), ([], [0], [whole - 1])):
            end, bad = HEADER + whole * SEALED + more, [i for i in bad if 0 <= i < whole]
            cases.append(case(spoil(data[:end], HEADER, bad), HEADER, plain[: whole * SEGMENT], bad, *options,
                              stop=f"the input is truncated after byte {end}", out=more == 1))
        for more in (16, 17, 1000, SEALED - 1):
            end, size = HEADER + whole * SEALED + more, whole * SEGMENT + more - 16
            cases.append(case(data[:end], HEADER, plain[:size], [whole], *options, out=more == 17))
    salvage_all(batch, cases)


# --- Files made of parts -------------------------------------------------------------------------------------------

LENGTHS = [20000, 0, 49152, 5, 40000]
PLAIN = some_bytes(sum(LENGTHS))
PIECES = [PLAIN[sum(LENGTHS[:i]) : sum(LENGTHS[: i + 1])] for i in range(5)]


def damaged_parts(suite):
    """Damaged files: their data, size of the output, lost ranges, the reason to stop, and how they are read."""
    job = pf.new_job(suite, keys=[KEY])
    parts, again = pf.seal_parts(job, PIECES, 5), pf.seal_parts(job, PIECES, 5)
    whole, at, total = pf.join(job, parts), begins_of(parts), len(PLAIN)
    body = [begin + pf.FIELDS.size for begin in at]
    lost_0, lost_2, cut = (at[0], 0, 20000), (at[2], 20000, 69152), body[2] + 2 * SEALED + 100
    header_2 = f"the input is corrupt at byte {at[2]}, in the header of part 2"
    lists = f"the input is corrupt at byte {at[5]}, in the index, which lists other parts"
    number = f"the input is corrupt at byte {len(whole) - 8}, in the number of parts"
    without_index = f"the input is truncated after byte {at[5]}, in a part or the index"
    three = [(body[0], 0, 16384), (body[2] + SEALED, 36384, 52768), (body[4] + 2 * SEALED, 101925, 109157)]
    for via in VIAS:
        yield whole, total, [], None, via
        yield flipped(whole, body[0] + 16384, body[2] + SEALED, body[4] + 40031), total, three, None, via
        yield flipped(whole, body[3]), total, [(body[3], 69152, 69157)], None, via
        yield flipped(whole, body[1]), total, [(body[1], 20000, 20000)], None, via  # an empty part
        yield flipped(whole, body[2] + 2 * SEALED, body[3]), total, [(body[2] + 2 * SEALED, 52768, 69157)], None, via
        yield flipped(whole, at[2] + 20), total, [lost_2], None, via  # the salt
        yield whole[:cut], 52768, [], f"the input is truncated after byte {cut}, in part 2", via
        yield whole[: at[5]], total, [], without_index, via
        yield flipped(whole, at[5] + 80), total, [], f"the input is corrupt at byte {body[5]}, in the index", via
        yield flipped(whole, len(whole) - 1), total, [], number, via
        yield flipped(whole, len(whole) - 1, at[2] + 2), 20000, [], header_2, via
    for field in (0, 2, 7, 12, 16, 20, 60):  # of the header
        yield flipped(whole, at[0] + field), total, [lost_0], None, "file"
        yield flipped(whole, at[2] + field), total, [lost_2], None, "file"
    another_attempt = whole.replace(parts[2], again[2])
    yield another_attempt, total, [lost_2], None, "file"
    yield another_attempt, total, [], lists, "pipe"
    yield flipped(whole, at[2] + 60), total, [lost_2], lists, "pipe"  # the commitment
    yield whole.replace(parts[2][73:], again[2][73:]), total, [(body[2], 20000, 69152)], None, "file"
    for field in (0, 2, 7):
        yield flipped(whole, at[2] + field), 20000, [], header_2, "pipe"


def test_parts(batch, key):
    """Without a valid index, as from a pipe, salvage ends at the first part that cannot be found."""
    cases = []
    files = list(damaged_parts(pf.AES))
    for lane in LANES:
        some = spread(files, 10) if SANITIZED or lane.startswith("cuda") else files
        cases += [(file, ["-l", lane, "-b", chunk]) for file, chunk in zip(some, itertools.cycle(("16K", "48K", "1M")))]
    cases += [(file, ["-l", LANES[0]]) for file in list(damaged_parts(pf.KUZNYECHIK))[::4]]
    salvage_all(batch, [((data, PLAIN[:size], lost, "-k", key, *options), {"stop": stop, "via": via})
                        for (data, size, lost, stop, via), options in cases])


WRONG_LABEL = (
    "the input is corrupt at byte 119, in its header, or was encrypted with a different label; nothing was written")
LABEL_HINT = "--label must be the text the input was encrypted with, or omitted if there was none"


@pytest.mark.parametrize("via", VIAS)
def test_a_wrong_label_or_part_0_without_an_index_is_refused(batch, key, via):
    labeled, bare = pf.seal(PLAIN, 3, keys=[KEY], label=b"right"), pf.seal(PLAIN, 3, keys=[KEY])
    cases = [(labeled, []), (labeled, ["--label", "wrong"]), (bare, ["--label", "right"])]
    for at in (0, 2, 20, 60):
        cases.append((flipped(bare, 119 + at, len(bare) - 1), ["-o", os.path.abspath("out")]))
        if via == "pipe":
            cases.append((flipped(bare, 119 + at), []))
    for run, (data, options) in each_way(batch, cases):
        got = run("-q", "--salvage", "-k", key, *options, input=data, via=via, status=4)
        assert (got.out, got.error, got.hint) == (b"", WRONG_LABEL, LABEL_HINT)
    assert os.listdir() == []
    expect_same(PLAIN, stream("--salvage", "-k", key, "--label", "right", input=labeled, via=via).out)


def test_the_output_file_is_kept_and_test_writes_nothing(key):
    bare = pf.seal(PLAIN, 3, keys=[KEY])
    stop = f"the input is corrupt at byte {len(bare) - 8}, in the number of parts"
    damaged = flipped(bare, len(bare) - 1)
    salvage(stream, damaged, PLAIN, [], "-q", "-k", key, stop=stop, out=True)
    assert stream("-q", "--salvage", "--test", "-k", key, input=damaged, via="file", status=4).out == b""
