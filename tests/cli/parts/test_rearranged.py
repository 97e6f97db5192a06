"""Frames exchanged, repeated, removed, inserted, mixed, or taken from another file, another attempt or another cut:
decryption fails with status 4, and releases only a prefix of the plaintext."""

import pytest

from programs import AGAIN_OR_SALVAGE, KEY, expect_same, some_bytes, stream

pytest.importorskip("cryptography")
import parts_format as pf  # noqa: E402
import sealed_format as sf  # noqa: E402
from parts_damage import HEAD, VIAS, Changed, begins_of, expect_damage, pieces_of  # noqa: E402

# A case lists what follows the header of a file with five parts:
#   0 to 4, i   the parts and the index, or with x before them, those of another file with the same keys, with l of a
#               file with a label, with a other attempts at them, with c those of another cut, with w of other lengths
#   i2          another attempt at the index
#   n, n4       the number of parts, at the end, or a wrong one
#   h, xh       the header, or that of the other file
#   x5, c5      an empty part of the other file or cut, with number 5
#   m, e        the plaintext as a message that is not in parts, or an empty one
#   z8          8 zeros
#   0:73:a0     the first 73 bytes of 0, the size of its header, and the rest of a0; with n, no more
WHOLE = "0 1 2 3 4 i n"
CASES = [
    "1 0 2 3 4 i n", "0 1 4 3 2 i n", "0 1 2 4 3 i n", "4 3 2 1 0 i n", "0 0 1 2 3 4 i n", "0 1 2 2 3 4 i n",
    "0 1 2 3 4 4 i n", "0 2 2 3 4 i n", "i n", "i i n", "i 0 1 2 3 4 i n", "0 1 2 3 i 4 i n",
    "0 1 2 3 4 xi n", "0 1 2 3 4 li n", "m", "xh 0 1 2 3 4 i n", "0 1 2 3 4 x5 i n",
    "0 1 2 3 4 ai n", "0 1 2 3 4 i:113:i2 n", "0:173:a0 1 2 3 4 i n", "0 1 2 3 4 wi n", "0 c1 2 3 4 i n",
    "c0 1 2 3 4 i n", "c0 c1 c2 c3 c4 i n", "0 1 2 3 4 c5 i n", "0 1 2 3 4 e i n", "0 1 2 3 4 i i n",
    "0 1 2 3 4 i i2 n", "0 x1 x2 x3 x4 xi n", "0 1 2 x3 x4 xi n",
    *(f"{WHOLE} {more}" for more in ("i n", "n", "n4", f"h {WHOLE}", WHOLE)),
    *("01234"[:i].replace("", " ") + " n" for i in range(5)),
    "0:100:n i n", "0 1 2:100:n i n", "0 1 2 3 4:100:n i n",
    *(text.replace("z", f"z{size}") for size in (1, 7, 8, 73, 89, 16384)
      for text in (f"{WHOLE} z", "0 1 2 3 4 z i n", "0 1 2 3 4 i z n", f"z {WHOLE}", "0 1 2 z 3 4 i n")),
    *(WHOLE.replace(i, other.replace("0", i)) for i in "01234"
      for other in ("", "x0", "l0", "0:73:x0", "a0", "a0:73:0", "0:-16:a0", "0:-1:a0")),
    *(WHOLE.replace(i, "").replace("n", "n4") for i in "01234"),
]  # fmt: skip


def make_frames(suite, lengths):
    """What the words of a case stand for, and the plaintext."""
    pieces, plain = pieces_of(lengths)
    job, other = (pf.new_job(suite, keys=[KEY]) for _ in range(2))
    labeled = job._replace(label=b"label")
    parts = again = pf.seal_parts(job, pieces)
    while any(a[-1] == b[-1] for a, b in zip(again, parts)):  # random last bytes can be equal by chance
        again = pf.seal_parts(job, pieces)
    frames = {"n": (5).to_bytes(8, "big"), "n4": (4).to_bytes(8, "big"), "h": job.head, "xh": other.head}
    frames["i2"] = pf.make_index(job, parts)
    for name, of, sealed in (("", job, parts), ("x", other, pf.seal_parts(other, pieces)), ("a", job, again),
                             ("l", labeled, pf.seal_parts(labeled, pieces)), ("c", job, pf.seal_parts(job, pieces, 5)),
                             ("w", job, pf.seal_parts(job, [plain, b"", b"", b"", b""]))):
        frames[f"{name}i"] = pf.make_index(of, sealed)
        frames.update((f"{name}{i}", part) for i, part in enumerate(sealed))
    frames["x5"], frames["c5"] = pf.frame(other, pf.PART, 5, 0, b""), pf.frame(job, pf.PART, 5, 6, b"")
    for name, text in (("m", plain), ("e", b"")):
        frames[name] = sf.message(job.file_key, job.head[:17], text, suite=job.aead)
    return frames, plain


def assemble(frames, case):
    data = frames["h"]
    for word in case.split():
        first, at, second = [*word.split(":"), "", ""][:3]
        if at:
            data += frames[first][: int(at)] + frames[second][int(at) :]
        else:
            data += bytes(int(word[1:])) if word[0] == "z" else frames[word]
    return data


def errors(frames):
    """Complete messages for some of the cases."""
    *begins, index = begins_of([frames[i] for i in "01234"])
    header = [f"the input is corrupt at byte {at}, in the header of part {i}" for i, at in enumerate(begins)]
    lists = f"the input is corrupt at byte {index}, in the index, which lists other parts"
    end = len(assemble(frames, WHOLE))
    trailing = {"pipe": f"the input has trailing bytes after byte {end}"}
    part_0 = f"the input is corrupt at byte {HEAD}, in its header: it is not followed by part 0"
    return {
        "1 0 2 3 4 i n": part_0, "0 1 4 3 2 i n": header[2], "0 1 2 4 3 i n": header[3], "0 c1 2 3 4 i n": header[1],
        "0 1 2 2 3 4 i n": {"pipe": header[3]},
        **{WHOLE.replace(str(i), f"x{i}"): header[i] for i in range(1, 5)},
        **{WHOLE.replace(str(i), f"a{i}"): {"pipe": lists, "file": header[i]} for i in range(5)},
        **{case: trailing for case in CASES if case.startswith(f"{WHOLE} ")},
    }


@pytest.mark.parametrize("suite, lengths", [
    (pf.AES, [20000, 0, 16384, 5, 40000]),
    (pf.KUZNYECHIK, [400, 0, 100, 5, 33]),
])
def test_other_frames_are_detected(batch, key, suite, lengths):
    frames, plain = make_frames(suite, lengths)
    expect_same(plain, stream("-d", "-k", key, "-l", "cpu:1", "-b", "16K", input=assemble(frames, WHOLE)).out)
    says = errors(frames)
    cases = [Changed(case, assemble(frames, case), plain, says.get(case)) for case in CASES]
    expect_damage(batch, key, cases, everywhere=suite == pf.AES)


MODIFIED = "the input is corrupt at byte 87, in its header: the header or its MAC was modified; nothing was written"


@pytest.mark.parametrize("suite", range(1, 5))
def test_the_header_mac_covers_the_suite(key, suite):
    plain = some_bytes(60000 if suite % 2 else 5)
    sealed = pf.seal(plain, 3, suite=suite, keys=[KEY]) if suite > 2 else sf.seal(plain, [KEY], suite=suite)
    for other in {0, 1, 2, 3, 4, 5, 255} - {suite}:
        unknown = f"the input uses cipher suite {other:02x}, which this version does not support"
        for via in VIAS:
            changed = sealed[:16] + bytes([other]) + sealed[17:]
            got = stream("-q", "-d", "-k", key, input=changed, via=via, status=4 if 1 <= other <= 4 else 1)
            assert (got.out, got.error) == (b"", MODIFIED if got.status == 4 else unknown)
            assert got.hint == (AGAIN_OR_SALVAGE if got.status == 4 else "try a later version of gpuaes-stream")
