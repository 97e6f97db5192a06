#!/usr/bin/env bash
# gpuaes-parts exits with status 4 and leaves no output file if a job file, a receipt, an index or a part was changed in
# any byte that it reads.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from parts_harness import *

plain = make_input(100000)
job = pf.new_job(label=b"label", keys=[KEY])
pieces = pf.cut(plain, 3)
sealed = pf.seal_parts(job, pieces, 3)
index = pf.join(job, sealed)[len(job.head + b"".join(sealed)) :]
job_file, receipt = pf.make_job_file(job), pf.make_receipt(job, sealed[2])
body = pf.FIELDS.size
for name, content in {"job": job_file, "ends.head": job.head, "changed.head": job.head,
                      **{f"part.{i}": part for i, part in enumerate(sealed)},
                      **{f"receipt.{i}": pf.make_receipt(job, part) for i, part in enumerate(sealed)}}.items():
    secret_file(name, content)
secret_file("ends.index", index)


def flips(data, places=None):
    for at in thinned(range(len(data)) if places is None else places, 10):
        yield f"byte {at}", flip(data, at, at % 8)


def cuts(data, *sizes):
    yield from ((f"the first {size} bytes", data[:size]) for size in sizes)
    yield "a byte more", data + b"\0"


def refused(what, *arguments, released=b"", **more):
    expect_same(released, parts(*arguments, want=4, what=what, **more), f"{what}: standard output")
    if left := glob.glob("out*") + unfinished_files():
        fail(f"{what}: expected no output, got {left}")


for what, changed in [*flips(job_file), *cuts(job_file, 0, 14, 15, 47, 48, len(job_file) - 32, len(job_file) - 1)]:
    secret_file("changed", changed)
    refused(f"job file, {what}", "join", "--job", "changed", "-o", "out", "part.0", "part.1", "part.2")
for what, changed in [*flips(receipt), *cuts(receipt, 0, 103)]:
    secret_file("changed", changed)
    refused(f"receipt, {what}", "join", "--job", "job", "--ends", "out", "--receipts", "receipt.0", "receipt.1", "changed")

# join verifies the header and the last segment of a part, and open all of it.
part = sealed[2]
last = body + len(pieces[2]) // SEGMENT * SEALED
for what, changed in [*flips(part, [*range(body), last, len(part) - 17, len(part) - 1]), *cuts(part, 0, 72, last, len(part) - 1)]:
    secret_file("changed", changed)
    refused(f"joined part, {what}", "join", "--job", "job", "-o", "out", "part.0", "part.1", "changed")
for what, changed in flips(part, range(body)):
    refused(f"opened part, {what}", "open", "--job", "job", "--ends", "ends", "--part", 2, "-", data=changed)
for at in (body, body + 5000, last, len(part) - 1):
    released = pieces[2][: (at - body) // SEALED * SEGMENT]
    opening = ["open", "--job", "job", "--ends", "ends", "--part", 2, "-"]
    refused(f"opened part, byte {at}", *opening, data=flip(part, at), released=released)
    refused(f"opened part, byte {at}, -o", *opening, "-o", "out", data=flip(part, at))
    refused(f"opened part, cut to {at}", *opening, data=part[:at], released=released)
refused("a byte after the opened part", *opening, "-o", "out", data=part + b"\0")
for what, data in {"another part": sealed[0], "another attempt": pf.frame(job, pf.PART, 2, 3, pieces[2]),
                   "another cut": pf.frame(job, pf.PART, 2, 0, pieces[2])}.items():
    refused(f"open: {what}", *opening, data=data)

for what, changed in [*flips(index), *cuts(index, 0, 8, 72, 73, len(index) - 8, len(index) - 1)]:
    secret_file("changed.index", changed)
    refused(f"index, {what}", "list", "--job", "job", "--ends", "changed")
    refused(f"index, {what}, open", "open", "--job", "job", "--ends", "changed", "--part", 2, "-o", "out", "part.2")
secret_file("changed.index", index)
for what, changed in flips(job.head, [at for at in range(HEAD) if at != 16]):
    secret_file("changed.head", changed)
    status = pf.outcome(pf.read_pipe(changed + sealed[0], key=KEY, label=b"label"))[0]
    parts("list", "-k", key, "--label", "label", "--ends", "changed", want=status, what=f"head, {what}")
PYTHON
