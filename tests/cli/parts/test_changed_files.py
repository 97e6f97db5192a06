"""A job file, a receipt, a head, an index or a part that was changed in a byte that is read makes the step fail with
status 4, without output."""

import os
import pathlib
import shutil

import pytest

from parts_steps import join, seal, write_input
from programs import SANITIZED, parts, some_bytes, stream

pytest.importorskip("cryptography")
import parts_format as pf  # noqa: E402
from damage import SEALED  # noqa: E402

KEY = bytes(range(32))  # in the key file
PLAIN = some_bytes(100_000)
PIECES = pf.cut(PLAIN, 3)
STEP = 10 if SANITIZED else 3  # only each STEP-th change is tried
FRAME = pf.FIELDS.size  # bytes of a frame header
SECRETS = ["-k", "../key", "--label", "label"]


@pytest.fixture
def sealed(key):
    """The bytes of three parts, in a directory that is not joined."""
    write_input("plain", PLAIN)
    job = pf.new_job(label=b"label", keys=[KEY])
    sealed = pf.seal_parts(job, PIECES, 3)
    pf.write_directory("dir", job, sealed, joined=False, count=3, input=pf.planned("plain"))
    for i, part in enumerate(sealed):
        pathlib.Path(f"receipt.{i}").write_bytes(pf.make_receipt(job, part))
    return sealed


@pytest.fixture
def joined(sealed):
    join("dir")
    return sealed


def changes(name, places=None, cuts=()):
    """Changes a file in one way after another, and yields a description of each. Then restores it."""
    path = pathlib.Path(name)
    good = path.read_bytes()
    cases = [(f"byte {at}", good[:at] + bytes([good[at] ^ 1 << at % 8]) + good[at + 1 :])
             for at in list(range(len(good)) if places is None else places)[::STEP]]
    cases += [(f"the first {size} bytes", good[:size]) for size in cuts] + [("a byte more", good + b"\0")]
    for what, changed in cases:
        path.write_bytes(changed)
        yield f"{name}, {what}"
    path.write_bytes(good)


def names():
    return sorted(os.listdir("dir"))


def test_a_changed_job_file(sealed):
    before = names()
    size = os.path.getsize("dir/job")
    for what in changes("dir/job", cuts=(0, 14, 15, 47, 48, size - 32, size - 1)):
        found = join("dir", status=4)
        assert found.out == b"" and names() == before, what
    assert (found.error, found.hint) == ("the job file dir/job is damaged",
                                         "parts that were sealed with it can be joined only with an undamaged copy")
    os.unlink("dir/part.0000001")
    for what in changes("dir/job", places=[0, 15, 46, 47, 60, 100, 170, size - 60, size - 1]):
        assert seal("dir", 1, status=4).error.startswith("part 1: "), what
        assert parts("status", "dir", status=4).out == b"", what
    assert not os.path.exists("dir/part.0000001")
    join("dir", "--receipts", "receipt.1")


def test_a_job_file_of_another_version(sealed):
    for text, error, hint in (
            (b"2\n", "the job file dir/job has a version other than 1", "try a later version of gpuaes-stream"),
            (b"10", "the job file dir/job has a version other than 1", "try a later version of gpuaes-stream"),
            (b"x\n", "dir/job is not a job file", "gpuaes-parts plan writes one")):
        data = bytearray(pathlib.Path("dir/job").read_bytes())
        data[13:15] = text
        pathlib.Path("dir/job").write_bytes(data)
        found = join("dir", status=1 if b"x" not in text else 4)
        assert (found.error, found.hint) == (error, hint)


def test_a_changed_receipt(sealed):
    before = names()
    for what in changes("receipt.2", cuts=(0, 103)):
        found = join("dir", "--receipts", "receipt.0", "receipt.2", status=4)
        assert found.error == "receipt.2 is not a receipt for this plan, or is damaged", what
        assert names() == before, what


def test_a_changed_part_that_is_opened(joined):
    """Only what precedes the damage is released, as by the independent reader."""
    size = len(joined[1])
    for what in changes("dir/part.0000001", [*range(FRAME), FRAME, FRAME + 5000, FRAME + SEALED, size - 1]):
        files = [pathlib.Path("dir", name).read_bytes() for name in ("head", *map(pf.part_name, range(3)), "index")]
        status, plain = pf.outcome(pf.read_file(b"".join(files), key=KEY, label=b"label"))
        found = stream("-d", *SECRETS, "dir", status=4)
        assert status == 4 and PLAIN.startswith(plain), what
        assert plain.startswith(found.out), what
        assert (len(found.out) >= len(PIECES[0])) == (not what.endswith("a byte more")), what
        if not what.endswith(f"byte {size - 1}"):  # in the last segment, which is empty and not needed for a range
            alone = stream("-d", *SECRETS, "--part", "1", "dir", status=4)
            assert PIECES[1].startswith(alone.out), what
        for other in 0, 2:
            assert stream("-d", *SECRETS, "--part", str(other), "dir").out == PIECES[other], what


def test_a_changed_index(joined):
    size = os.path.getsize("dir/index")
    for what in changes("dir/index", cuts=(0, 8, 72, 73, size - 8, size - 1)):
        for mode in [["-d"], ["--test"], ["-d", "--part", "1"], ["--range", "0:1"]][: 4 if "first" in what else 1]:
            found = stream(*mode, *SECRETS, "dir", status=4)
            assert found.out == b"", what


def test_a_changed_head(joined):
    for what in changes("dir/head", cuts=(0, 1, 16, 17, 60, 118)):
        found = stream("-d", *SECRETS, "dir", status=None)
        if ", byte " in what and not what.endswith(" 16"):  # of the same size, and with the same suite
            assert found.status == pf.outcome(pf.read_directory("dir", key=KEY, label=b"label"))[0], what
        assert found.status in (1, 3, 4) and found.out == b"", what


def test_members_of_another_file(joined):
    os.rename("dir", "dir1")
    job = pf.new_job(label=b"label", keys=[KEY])
    pf.write_directory("dir", job, pf.seal_parts(job, PIECES, 3))
    for name in ("head", "part.0000000", "part.0000002", "index"):
        shutil.copy(f"dir/{name}", "saved")
        shutil.copy(f"dir1/{name}", f"dir/{name}")
        found = stream("-d", *SECRETS, "dir", status=4)
        assert PLAIN.startswith(found.out), name
        assert bool(found.out) == (name == "part.0000002"), name
        shutil.copy("saved", f"dir/{name}")
    assert stream("-d", *SECRETS, "dir").out == PLAIN
