#!/usr/bin/env bash
# Frames exchanged, repeated, removed, inserted, mixed, or taken from another file, another attempt or another cut:
# decryption fails with status 4, and releases only a prefix of the plaintext.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from parts_harness import *


def rearrangements(suite, lengths):
    """Yields changed files of len(lengths) parts, which is 5."""
    plain = make_input(sum(lengths))
    pieces = [plain[sum(lengths[:i]) : sum(lengths[: i + 1])] for i in range(5)]
    job = pf.new_job(suite, keys=[KEY])
    p = pf.seal_parts(job, pieces)
    index, n = pf.make_index(job, p), (5).to_bytes(8, "big")
    whole = pf.join(job, p)
    expect_open(whole, plain, *QUICK, what="the unchanged file")
    begins = [HEAD + len(b"".join(p[:i])) for i in range(6)]
    body = pf.FIELDS.size

    def change(what, *frames, end=index + n, **more):
        return Changed(f"suite {suite}: {what}", job.head + b"".join(frames) + end, plain, **more)

    def header_of(number):
        return f"the input is corrupt at byte {begins[number]}, in the header of part {number}"

    # Exchanged, repeated and removed.
    part_0 = f"the input is corrupt at byte {HEAD}, in its header: it is not followed by part 0"
    yield change("0 and 1 exchanged", p[1], p[0], *p[2:], says=part_0)
    yield change("2 and 4 exchanged", *p[:2], p[4], p[3], p[2], says=header_of(2))
    yield change("3 and 4 exchanged", *p[:3], p[4], p[3], says=header_of(3))
    yield change("reversed", *reversed(p))
    yield change("0 twice", p[0], *p)
    yield change("2 twice", *p[:3], *p[2:], says={"pipe": header_of(3)})
    yield change("4 twice", *p, p[4])
    yield change("2 instead of 1", p[0], p[2], *p[2:])
    for i in range(5):
        yield change(f"{i} removed", *p[:i], *p[i + 1 :])
        yield change(f"{i} removed, n is 4", *p[:i], *p[i + 1 :], end=index + (4).to_bytes(8, "big"))
    yield change("all removed")
    yield change("only the index twice", end=2 * index + n)
    yield change("the index first", index, *p)
    yield change("the index before 4", *p[:4], index, p[4])

    # Another file with the same key file, another label, and a file of the same cipher that is not in parts.
    other = pf.new_job(suite, keys=[KEY])
    q = pf.seal_parts(other, pieces)
    labeled = pf.seal_parts(job._replace(label=b"label"), pieces)
    for i in range(5):
        yield change(f"{i} of another file", *p[:i], q[i], *p[i + 1 :], says=header_of(i) if i else None)
        yield change(f"{i} of another label", *p[:i], labeled[i], *p[i + 1 :])
        yield change(f"{i}'s segments of another file", *p[:i], p[i][:body] + q[i][body:], *p[i + 1 :])
    yield change("another file's index", *p, end=pf.make_index(other, q) + n)
    yield change("another file's index and parts, except 0", p[0], *q[1:], end=pf.make_index(other, q) + n)
    yield change("another label's index", *p, end=pf.make_index(job._replace(label=b"label"), p) + n)
    yield change("a whole message", sf.message(job.file_key, job.head[:17], plain, suite=job.aead), end=b"")
    yield change("the header of another file", end=other.head + b"".join(p) + index + n)

    # Other attempts of the same parts, whole and in pieces. Their plaintext differs only if their input was modified.
    again = p
    while any(a[-1] == b[-1] for a, b in zip(again, p)):  # random last bytes can be equal by chance
        again = pf.seal_parts(job, pieces)
    lists = f"the input is corrupt at byte {begins[5]}, in the index, which lists other parts"
    for i in range(5):
        yield change(f"another attempt of {i}", *p[:i], again[i], *p[i + 1 :], says={"pipe": lists, "file": header_of(i)})
        yield change(f"{i} with the header of another attempt", *p[:i], again[i][:body] + p[i][body:], *p[i + 1 :])
        yield change(f"{i} and the end of another attempt", *p[:i], p[i][:-16] + again[i][-16:], *p[i + 1 :])
        yield change(f"{i}'s last byte from another attempt", *p[:i], p[i][:-1] + again[i][-1:], *p[i + 1 :])
    yield change("the index of another attempt of all parts", *p, end=pf.make_index(job, again) + n)
    yield change("two attempts of the index", *p, end=index[: body + 40] + pf.make_index(job, p)[body + 40 :] + n)
    yield change("a segment from another attempt", p[0][: body + 100] + again[0][body + 100 :], *p[1:])
    yield change("a part from another cut", p[0], pf.frame(job, pf.PART, 1, 5, pieces[1]), *p[2:], says=header_of(1))
    cut = pf.seal_parts(job, pieces, 5)
    yield change("the first part from another cut", cut[0], *p[1:])
    yield change("all parts from another cut", *cut)
    yield change("an index of other lengths", *p, end=pf.make_index(job, pf.seal_parts(job, [plain, *[b""] * 4])) + n)

    # A second index or end, and stray bytes.
    trailing = {"pipe": f"the input has trailing bytes after byte {len(whole)}"}
    yield change("the index twice", *p, end=2 * index + n)
    yield change("two different indexes", *p, end=index + pf.make_index(job, p) + n)
    yield change("the whole end twice", *p, end=2 * (index + n), says=trailing)
    yield change("n twice", *p, end=index + n + n, says=trailing)
    yield change("the whole file twice", *p, end=index + n + whole, says=trailing)
    yield change("the body twice", *p, end=index + n + b"".join(p) + index + n)
    for size in (1, 7, 8, 73, 89, 16384):
        yield change(f"{size} zeros after the end", *p, end=index + n + bytes(size), says=trailing)
        yield change(f"{size} zeros before the index", *p, bytes(size))
        yield change(f"{size} zeros before n", *p, end=index + bytes(size) + n)
        yield change(f"{size} zeros before part 0", bytes(size), *p)
        yield change(f"{size} zeros before part 3", *p[:3], bytes(size), *p[3:])
    yield change("an empty part of another file before the index", *p, pf.frame(other, pf.PART, 5, 0, b""))
    yield change("an empty part of another cut before the index", *p, pf.frame(job, pf.PART, 5, 6, b""))
    yield change("a bare message before the index", *p, sf.message(job.file_key, job.head[:17], b"", suite=job.aead))


expect_all(rearrangements(pf.AES, [20000, 0, 16384, 5, 40000]), everywhere=True)
expect_all(rearrangements(pf.KUZNYECHIK, [400, 0, 16384, 5, 100]))

# An attempt at part 1 that was sealed after its input had changed: the reader of a pipe detects this at the index.
job, before, after = pf.new_job(keys=[KEY]), make_input(60000), make_input(60001)[1:]
old, new = (pf.seal_parts(job, pf.cut(plain, 3), 3) for plain in (before, after))
mixed = job.head + old[0] + new[1] + old[2] + pf.make_index(job, old) + (3).to_bytes(8, "big")
expect(4, before[:32768], "-d", "-k", key, data=mixed, via="file", what="a part of a changed input, file")
got = run("-d", "-k", key, data=mixed)
expect_equal((4, pf.outcome(pf.read_pipe(mixed, key=KEY))[1]), got[:2], "a part of a changed input, pipe")

# Other suites in byte 16. The header MAC covers it.
sealed = pf.join(job, old)
for name, data in {"parts": sealed, "Kuznyechik parts": pf.seal(b"12345", 2, suite=4, keys=[KEY]),
                   "AES": sf.seal(before, [KEY]), "Kuznyechik": sf.seal(b"12345", [KEY], suite=2)}.items():
    for suite in {1, 2, 3, 4} - {data[16]}:
        for via in VIAS:
            expect_refused(4, data[:16] + bytes([suite]) + data[17:], via=via, what=f"{name} as suite {suite}")
for suite in (0, 5, 255):
    expect_refused(1, sealed[:16] + bytes([suite]) + sealed[17:], what=f"suite {suite}")
PYTHON
