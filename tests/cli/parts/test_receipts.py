"""Receipts stand for parts that are elsewhere when the others are joined."""

import os
import pathlib
import shutil

import pytest

from parts_steps import join, plan, seal, write_input
from programs import KEY, content, some_bytes, stream

PLAIN = some_bytes(100_000)
RECEIPTS = ["receipt.0", "receipt.1", "receipt.2"]


def planned_job():
    """The module that writes files in parts, and the job for three parts that it wrote into `dir`."""
    pytest.importorskip("cryptography")
    import parts_format as pf
    job = pf.new_job(keys=[KEY])
    write_input("plain", PLAIN)
    pf.write_directory("dir", job, [], joined=False, count=3, input=pf.planned("plain"))
    return pf, job


@pytest.fixture
def elsewhere(key):
    """A plan for three parts, which are in the directory `bucket`, with their receipts."""
    write_input("plain", PLAIN)
    plan(key, "dir", "--label", "text", input="plain", count=3)
    os.mkdir("bucket")
    for i in range(3):
        seal("dir", i, "-o", f"bucket/part.{i:07}", "--receipt", RECEIPTS[i])
        assert len(content(RECEIPTS[i])) == 104


def together(key):
    """The plaintext of the file, with the parts."""
    shutil.copytree("bucket", "dir", dirs_exist_ok=True)
    return stream("-d", "-k", key, "--label", "text", "dir").out


def concatenate(*names):
    pathlib.Path("all").write_bytes(b"".join(map(content, names)))
    return "all"


@pytest.mark.parametrize("names", [RECEIPTS, ["receipt.2", "receipt.0", "receipt.1"], ["all", "receipt.2"],
                                   ["/dev/stdin", "receipt.2"]])
def test_receipts_in_any_order_and_several_in_a_file_or_pipe(elsewhere, key, names):
    join("dir", "--receipts", *names, input=content(concatenate("receipt.1", "receipt.0")))
    assert sorted(os.listdir("dir")) == ["head", "index", "job"]
    assert together(key) == PLAIN


def test_a_part_is_either_elsewhere_or_in_the_directory(elsewhere, key):
    seal("dir", 1)
    assert join("dir", "--receipts", *RECEIPTS, status=4).error.startswith("part 1 is in both ")
    os.unlink("dir/part.0000001")
    join("dir", "--receipts", *RECEIPTS)
    assert stream("--test", "-k", key, "--label", "text", "dir", status=4).error == "dir: dir/part.0000000 is missing"
    assert together(key) == PLAIN


def test_a_part_in_a_pipe(elsewhere, key):
    for i in range(3):
        pathlib.Path(f"bucket/part.{i:07}").write_bytes(seal("dir", i, "-o", "-", "--receipt", RECEIPTS[i]).out)
    join("dir", "--receipts", *RECEIPTS)
    assert together(key) == PLAIN


def test_a_part_of_unknown_size_needs_a_file(key):
    """Its length precedes it."""
    plan(key, "dir", count=1)
    found = seal("dir", 0, "-o", "-", "--receipt", "receipt", input=b"text", status=2)
    assert found.error == "part 0: a part of unknown size cannot be written to standard output"
    assert found.hint == "name a file with -o"
    assert found.out == b""
    seal("dir", 0, "-o", "part", "--receipt", "receipt", input=b"text")
    join("dir", "--receipts", "receipt")
    os.rename("part", "dir/part.0000000")
    assert stream("-d", "-k", key, "dir").out == b"text"


def refused(error, *receipts, status=4, hint=""):
    found = join("dir", "--receipts", *receipts, status=status)
    assert (found.error, found.hint) == (error, hint)
    assert sorted(os.listdir("dir")) == ["head", "job"]


def test_missing_and_repeated_parts(elsewhere):
    refused("dir does not contain part 1", "receipt.0", "receipt.2", status=1,
            hint="gpuaes-parts status shows which parts are complete")
    concatenate("receipt.1", "receipt.0")
    refused("part 1 is in both all and receipt.1", "all", "receipt.1", "receipt.2")
    for receipts in ["receipt.1", "receipt.1"], [concatenate("receipt.1", "receipt.1")]:
        refused(f"{receipts[0]} was given twice, or contains two receipts of part 1", "receipt.0", *receipts, "receipt.2")
    refused("--receipts: cannot open missing: No such file or directory", "missing", status=1)


def test_the_job_file_stays_until_the_parts_are_there_or_it_is_removed(elsewhere, key):
    """Only a reader of the parts can detect that a receipt is of another attempt."""
    note = "dir/job is still there; remove it once gpuaes-stream --test has verified all parts"
    for _ in range(2):
        assert join("dir", "--receipts", *RECEIPTS).notes == [note]
        assert sorted(os.listdir("dir")) == ["head", "index", "job"]
    assert join("dir", "-q", "--receipts", *RECEIPTS).err == ""
    assert together(key) == PLAIN
    join("dir")
    assert "job" not in os.listdir("dir")


def test_an_index_that_was_made_with_an_outdated_receipt(elsewhere, key):
    shutil.copy("receipt.1", "old")
    seal("dir", 1, "-o", "bucket/part.0000001", "--receipt", "receipt.1")
    join("dir", "--receipts", "receipt.0", "old", "receipt.2")
    index = content("dir/index")
    found = join("dir", "--receipts", *RECEIPTS, status=4)
    assert found.error == "dir/index lists a different attempt at part 1 from the one in receipt.1"
    assert found.hint == "if the index is outdated, remove it and join again"
    assert content("dir/index") == index and "job" in os.listdir("dir")
    os.unlink("dir/index")
    join("dir", "--receipts", *RECEIPTS)
    refused_after = join("dir", "--receipts", "receipt.0", "old", "receipt.2", status=4)
    assert refused_after.error == "dir/index lists a different attempt at part 1 from the one in old"
    assert together(key) == PLAIN


def test_receipts_are_checked_against_the_planned_input(key):
    pf, job = planned_job()

    def receipt(number, of, length):
        part = pf.frame(job, pf.PART, number, of, bytes(length))
        pathlib.Path(f"receipt.{number}").write_bytes(pf.make_receipt(job, part))

    lengths = [len(piece) for piece in pf.cut(PLAIN, 3)]
    for i in range(3):
        receipt(i, 3, lengths[i])
    receipt(1, 3, lengths[1] + 1)
    refused(f"receipt.1 has {lengths[1] + 1} bytes of plaintext, not {lengths[1]}", *RECEIPTS,
            hint="it was sealed from another input")
    receipt(1, 4, lengths[1])
    refused("receipt.1 contains part 1/4, not part 1/3", *RECEIPTS)
    receipt(7, 3, 0)
    refused("receipt.7 is not a receipt for this plan, or is damaged", "receipt.7")
    fields = pf.frame(job, pf.PART, 7, 8, b"")[1 : pf.FIELDS.size - 1] + b"?"  # the commitment is wrong
    pathlib.Path("receipt.7").write_bytes(fields + pf.receipt_mac(job, fields))
    refused("receipt.7 is not a receipt for this plan, or is damaged", "receipt.7")
    receipt(7, 8, 0)
    refused("receipt.7 is a receipt of part 7, but the file has only 3 parts", "receipt.7", *RECEIPTS)
    receipt(1, 3, lengths[1])
    join("dir", "--receipts", *RECEIPTS)


def test_a_part_for_another_number_of_parts_is_not_the_planned_one(key):
    pf, job = planned_job()
    pathlib.Path("dir/part.0000001").write_bytes(pf.frame(job, pf.PART, 1, 5, b"text"))
    assert seal("dir", 1, status=4).error == "part 1: dir/part.0000001 contains part 1/5"


def test_a_job_file_that_ends_in_the_middle_of_a_field(key):
    """Its MAC is valid."""
    pytest.importorskip("cryptography")
    import parts_format as pf
    job = pf.new_job(keys=[bytes(range(32))], label=b"a label")
    pf.write_directory("dir", job, [], joined=False)
    whole = pathlib.Path("dir/job").read_bytes()[:-32]
    for size in 48, 60, len(whole) - 1:
        pathlib.Path("dir/job").write_bytes(whole[:size] + pf.mac(job.file_key, b"gpuaes-parts/1 job", whole[:size]))
        assert seal("dir", 0, status=4).error == "part 0: the job file dir/job is damaged"
