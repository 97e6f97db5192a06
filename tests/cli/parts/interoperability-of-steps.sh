#!/usr/bin/env bash
# The job files, parts, receipts, indexes and files of gpuaes-parts and of an independent implementation are
# interchangeable, step by step.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

LANES=$(lanes_here) python <<'PYTHON'
from parts_harness import *

salts = []


def expect_part(job, data, number, of, plain, what):
    header = pf.read_header(data, 0)
    expect_equal((pf.PART, number, of, len(plain)), header[:4], f"{what}: kind, number, of and length")
    expect_equal(pf.frame_size(len(plain)), len(data), f"{what}: bytes")
    expect_same(plain, b"".join(pf.read_segments(job, header, data, 0)), what)
    salts.append(header.salt)
    return header


def expect_file(data, plain, label, what):
    for reader in (pf.read_pipe, pf.read_file):
        expect_equal((0, plain), pf.outcome(reader(data, key=KEY, label=label.encode())), f"{what}: independent reader")
    expect_open(data, plain, *(["--label", label] if label else []), *QUICK, via="file", what=what)


def expect_steps(name, plain, count, label="", cut=True, kuznyechik=False, lanes="cpu:1", python_seals=()):
    """Plans, seals, joins, lists and opens; the parts in python_seals are sealed independently."""
    what = f"{name}, {len(plain)} bytes in {count} parts"
    os.mkdir(name)
    file = lambda part: f"{name}/{part}"
    secret_file(file("input"), plain)

    # The job file, of the program or written independently.
    suite = pf.KUZNYECHIK if kuznyechik else pf.AES
    if 0 in python_seals:
        secret_file(file("job"), pf.make_job_file(pf.new_job(suite, label.encode(), keys=[OTHER_KEY, KEY])))
    else:
        parts("plan", "-k", key, *(["--label", label] if label else []), *(["-c", "kuznyechik"] if kuznyechik else []), "-o", file("job"))
    expect_equal(0o600, stat.S_IMODE(os.stat(file("job")).st_mode), f"{what}: mode of the job file")
    job = pf.read_job_file(read(file("job")))
    expect_same(read(file("job")), pf.make_job_file(job), f"{what}: the job file")
    expect_equal((suite, label.encode()), (job.suite, job.label), f"{what}: suite and label")
    expect_equal(job.file_key, pf.open_job(job.head + bytes(89), key=KEY).file_key, f"{what}: the file key")

    # Parts and receipts.
    pieces = pf.cut(plain, count)
    of = count if cut else 0
    for i, piece in enumerate(pieces):
        if i in python_seals:
            secret_file(file(f"part.{i}"), pf.frame(job, pf.PART, i, of, piece))
            secret_file(file(f"receipt.{i}"), pf.make_receipt(job, read(file(f"part.{i}"))))
        else:
            source = ["--part", f"{i}/{count}", "-i", file("input")] if cut else ["--part", i]
            parts("seal", "-q", "--job", file("job"), *source, "-o", file(f"part.{i}"), "--receipt", file(f"receipt.{i}"),
                  "-l", lanes, "-b", "16K", data=piece)
        header = expect_part(job, read(file(f"part.{i}")), i, of, piece, f"{what}: part {i}")
        expect_equal(header, pf.read_receipt(job, read(file(f"receipt.{i}"))), f"{what}: receipt {i}")

    # The whole file, and its two ends from parts and from receipts.
    names, receipts = ([file(f"{kind}.{i}") for i in reversed(range(count))] for kind in ("part", "receipt"))
    counted = [] if cut else ["--count", count]
    parts("join", "-q", "--job", file("job"), *counted, "-o", file("whole"), *names)
    expect_file(read(file("whole")), plain, label, f"{what}, joined")
    parts("join", "-q", "--job", file("job"), *counted, "--ends", file("ends"), *names)
    parts("join", "-q", "--job", file("job"), *counted, "--ends", file("listed"), "--receipts", *receipts)
    body = b"".join(read(file(f"part.{i}")) for i in range(count))
    for ends in ("ends", "listed"):
        expect_file(read(file(f"{ends}.head")) + body + read(file(f"{ends}.index")), plain, label, f"{what}, {ends}")

    # list and open, with the ends that the program or the independent implementation wrote.
    sealed = [read(file(f"part.{i}")) for i in range(count)]
    whole = pf.join(job, sealed)
    secret_file(file("python.head"), job.head)
    secret_file(file("python.index"), whole[len(job.head + body) :])
    lines = "".join(f"{i} {len(piece)} {pf.read_header(sealed[i], 0).commitment.hex()}\n" for i, piece in enumerate(pieces))
    secrets = (["--job", file("job")], ["-k", key, *(["--label", label] if label else [])])
    for ends in ("ends", "python"):
        for secret in secrets:
            expect_equal(lines, parts("list", *secret, "--ends", file(ends)).decode(), f"{what}: list of {ends}")
        for i in {0, count - 1}:
            opened = parts("open", "-q", *secrets[i % 2], "--ends", file(ends), "--part", i, "-", data=sealed[i])
            expect_same(pieces[i], opened, f"{what}: part {i}, opened with {ends}")


data = make_input(200000)
for i, lanes in enumerate(LANES):
    for size, count in thinned(((0, 1), (1, 3), (16384, 2), (100000, 4), (200000, 5)), 3, lanes, i):
        expect_steps(f"cut-{lanes}-{size}", data[:size], count, lanes=lanes)
expect_steps("both", data[:150000], 5, python_seals=(1, 4), label="Jahresabschluß 2026")
expect_steps("independent-job", data[:150000], 5, python_seals=(0, 3), label="x")
expect_steps("any", data[:50000], 3, cut=False)
expect_steps("any-both", data[:50000], 4, cut=False, python_seals=(0, 1, 2), label="l" * 255)
expect_steps("kuznyechik", data[:20000], 2, kuznyechik=True, python_seals=(1,))
expect_steps("kuznyechik-any", data[:20000], 3, kuznyechik=True, cut=False, python_seals=(0,), label="x")
expect_equal(len(salts), len(set(salts)), "number of different salts")
PYTHON
