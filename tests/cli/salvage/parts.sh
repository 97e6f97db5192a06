#!/usr/bin/env bash
# --salvage of files made of parts: damaged segments, parts with damaged headers and attempts that the index does not list
# become zeros and are reported with their offsets. Without a valid index, as from a pipe, it ends at the first part that
# cannot be found. Checked on all lanes.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from parts_harness import *

LENGTHS = [20000, 0, 49152, 5, 40000]
TOTAL = sum(LENGTHS)
PLAIN = make_input(TOTAL)
STARTS = [sum(LENGTHS[:i]) for i in range(6)]  # of each part in the plaintext
PIECES = [PLAIN[STARTS[i] : STARTS[i + 1]] for i in range(5)]


def salvage(what, data, want, lost, error, *options, via="file"):
    """want: size of the output. lost: for each range, the offset of the damage in the input, and its begin and end."""
    zeroed = bytearray(PLAIN[:want])
    for _, begin, end in lost:
        zeroed[begin:end] = bytes(end - begin)
    with open("damaged", "wb") as f:
        f.write(data)
    command = [program, "--salvage", "-k", key, *options]
    with open("damaged", "rb") as f:
        got = subprocess.run(command, stdin=f, capture_output=True) if via == "file" else \
            subprocess.run(command, input=data, capture_output=True)
    lines = [f"gpuaes-stream: warning: the input is corrupt at byte {at}; plaintext range {begin}:{end - begin} is lost"
             for at, begin, end in lost]
    zeros = sum(end - begin for _, begin, end in lost)
    ranges = f"{zeros} bytes of plaintext in {len(lost)} range{'' if len(lost) == 1 else 's'}"
    if error:
        error += f"; {want} bytes of plaintext before that were verified"
        lines.append("gpuaes-stream: error: " + error + (f", except for {ranges}" if lost else "")
                     + "; nothing after that was recovered")
    elif lost:
        lines.append(f"gpuaes-stream: error: the input is corrupt; {ranges} are lost")
    what = f"{what}, {via}, {options}"
    expect_equal(lines, got.stderr.decode().splitlines(), f"{what}: standard error")
    expect_equal(4 if lines else 0, got.returncode, f"{what}: exit status")
    expect_same(bytes(zeroed), got.stdout, what)


def spoil(data, *offsets):
    spoiled = bytearray(data)
    for at in offsets:
        spoiled[at] ^= 1
    return bytes(spoiled)


def cases(job):
    parts, again = pf.seal_parts(job, PIECES, 5), pf.seal_parts(job, PIECES, 5)
    whole = pf.join(job, parts)
    at = [HEAD + len(b"".join(parts[:i])) for i in range(6)]  # the frames
    body = [begin + pf.FIELDS.size for begin in at]
    lost_0, lost_2 = (at[0], 0, 20000), (at[2], 20000, 69152)
    lists = f"the input is corrupt at byte {at[5]}, in the index, which lists other parts"

    for via in VIAS:
        yield "undamaged", whole, TOTAL, [], None, via
        yield "segments", spoil(whole, body[0] + 16384, body[2] + 16400, body[4] + 40031), TOTAL, \
            [(body[0], 0, 16384), (body[2] + 16400, 36384, 52768), (body[4] + 32800, 101925, 109157)], None, via
        yield "part 3", spoil(whole, body[3]), TOTAL, [(body[3], 69152, 69157)], None, via
        yield "an empty part", spoil(whole, body[1]), TOTAL, [(body[1], 20000, 20000)], None, via
        yield "two parts", spoil(whole, body[2] + 2 * 16400, body[3]), TOTAL, [(body[2] + 32800, 52768, 69157)], None, via
        yield "salts", spoil(whole, at[2] + 20), TOTAL, [lost_2], None, via
        end = body[2] + 2 * 16400
        yield "truncated", whole[: end + 100], 52768, [], f"the input is truncated after byte {end + 100}, in part 2", via
        yield "no index", whole[: at[5]], TOTAL, [], f"the input is truncated after byte {at[5]}, in a part or the index", via
        yield "index", spoil(whole, at[5] + 80), TOTAL, [], f"the input is corrupt at byte {body[5]}, in the index", via
        yield "number of parts", spoil(whole, len(whole) - 1), TOTAL, [], \
            f"the input is corrupt at byte {len(whole) - 8}, in the number of parts", via
        yield "number and part", spoil(whole, len(whole) - 1, at[2] + 2), 20000, [], \
            f"the input is corrupt at byte {at[2]}, in the header of part 2", via
    for field in (0, 2, 7, 12, 16, 20, 60):
        yield f"header of 0, byte {field}", spoil(whole, at[0] + field), TOTAL, [lost_0], None, "file"
        yield f"header of 2, byte {field}", spoil(whole, at[2] + field), TOTAL, [lost_2], None, "file"
    other = job.head + b"".join([*parts[:2], again[2], *parts[3:]]) + whole[at[5] :]
    yield "another attempt", other, TOTAL, [lost_2], None, "file"
    yield "another attempt", other, TOTAL, [], lists, "pipe"
    yield "a commitment", spoil(whole, at[2] + 60), TOTAL, [lost_2], lists, "pipe"
    swapped = job.head + b"".join([*parts[:2], parts[2][: pf.FIELDS.size] + again[2][pf.FIELDS.size :], *parts[3:]])
    yield "segments of another attempt", swapped + whole[at[5] :], TOTAL, [(body[2], 20000, 69152)], None, "file"
    for field in (0, 2, 7):
        yield f"header of 2, byte {field}", spoil(whole, at[2] + field), 20000, [], \
            f"the input is corrupt at byte {at[2]}, in the header of part 2", "pipe"


for lanes in LANES:
    suite, chunks = pf.AES, ("16K", "48K", "1M")
    for i, (what, data, want, lost, error, via) in enumerate(thinned(list(cases(pf.new_job(suite, keys=[KEY]))), 4, lanes)):
        salvage(what, data, want, lost, error, "-l", lanes, "-b", chunks[i % 3], via=via)
for what, data, want, lost, error, via in list(cases(pf.new_job(pf.KUZNYECHIK, keys=[KEY])))[::4]:
    salvage(what, data, want, lost, error, "-l", LANES[0], via=via)

# A wrong label, or none, is refused, and so is a damaged part 0 if there is no index.
labeled = pf.seal(PLAIN, 3, keys=[KEY], label=b"right")
bare = pf.seal(PLAIN, 3, keys=[KEY])
for via in VIAS:
    for data, options in ((labeled, []), (labeled, ["--label", "wrong"]), (bare, ["--label", "right"])):
        got = expect(4, b"", "--salvage", "-k", key, *options, data=data, via=via, what="wrong label")
        expect_message(got, "in its header, or was sealed with a different label; nothing was written", "wrong label")
    expect(0, PLAIN, "--salvage", "-k", key, "--label", "right", data=labeled, via=via, what="right label")
    for at in (0, 2, 20, 60):
        expect(4, b"", "--salvage", "-k", key, "-o", "out", data=spoil(bare, HEAD + at, len(bare) - 1), via=via,
               what="damaged part 0 and index")
        expect_equal(False, os.path.exists("out"), "output file")
for at in (0, 2, 20, 60):
    expect(4, b"", "--salvage", "-k", key, data=spoil(bare, HEAD + at), what="damaged part 0 from a pipe")

# The output file is kept, and --test writes nothing.
damaged = spoil(bare, len(bare) - 1)
expect(4, b"", "--salvage", "-k", key, "-o", "out", data=damaged, via="file", what="-o")
with open("out", "rb") as f:
    expect_same(PLAIN, f.read(), "-o")
expect(4, b"", "--salvage", "--test", "-k", key, data=damaged, via="file", what="--test")
PYTHON
