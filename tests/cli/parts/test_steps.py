"""The steps of gpuaes-parts, from plan to join. The program and an independent implementation write the same files, and
each reads those of the other."""

import os
import pathlib
import shutil
import stat

import pytest

from parts_steps import join, plan, plan_and_seal, seal, write_input
from programs import SANITIZED, content, keygen, parts, secret_file, some_bytes, stream

pytest.importorskip("cryptography")
import parts_format as pf  # noqa: E402

KEY = bytes(range(32))  # in the key file
SIZES = [(0, 1), (0, 3), (1, 2), (16384, 1), (16384, 2), (16385, 2), (49152, 3), (49152, 2), (70001, 7), (300000, 5)]
CASES = [("aes-256", *case) for case in SIZES] + [("kuznyechik", *case) for case in SIZES[:9:3]]


def label_of(options):
    return options[options.index("--label") + 1] if "--label" in options else ""


def opens(name, key, plain, label=""):
    """A directory or single file opens with the program and the independent reader."""
    options = ["--label", label] if label else []
    assert stream("-d", "-k", key, *options, name).out == plain
    data = pf.concatenate(name) if os.path.isdir(name) else content(name)
    assert stream("-d", "-k", key, *options, input=data).out == plain
    for reader in pf.read_pipe, pf.read_file:
        assert pf.outcome(reader(data, key=KEY, label=label.encode())) == (0, plain)


@pytest.mark.parametrize("cipher, size, count", CASES[::4] if SANITIZED else CASES)
def test_every_size_and_number_of_parts(key, cipher, size, count):
    plain, label = some_bytes(size), f"{size} bytes, {count} parts"
    plan_and_seal(key, plain, count, "dir", "-c", cipher, "--label", label)
    assert sorted(os.listdir("dir")) == ["head", "job", *map(pf.part_name, range(count))]
    join("dir", "-o", "single")
    assert sorted(os.listdir("dir")) == ["head", "index", *map(pf.part_name, range(count))]
    assert content("single") == pf.concatenate("dir")
    opens("dir", key, plain, label)
    opens("single", key, plain, label)
    stream("--test", "-k", key, "--label", label, "dir")


@pytest.mark.parametrize("options", [[], ["-c", "kuznyechik", "--label", "Jahresabschluß 2026"],
                                     ["--label", "l" * 255]])
def test_a_job_file_has_the_specified_form(key, options):
    write_input("input", some_bytes(50_000))
    plan(key, "dir", *options, input="./input", count=3)
    data = content("dir/job")
    job, count, input = pf.read_job_file(data)
    assert data == pf.make_job_file(job, count, input)
    assert (job.suite, job.label) == (pf.KUZNYECHIK if "-c" in options else pf.AES, label_of(options).encode())
    assert (count, input) == (3, pf.planned("input")._replace(name=os.fsencode(f"{os.getcwd()}/./input")))
    assert pf.open_job(job.head + bytes(89), key=KEY).file_key == job.file_key
    assert content("dir/head") == job.head


def check_part(job, data, number, of, plain):
    """Returns the salt."""
    header = pf.read_header(data, 0)
    assert header[:4] == (pf.PART, number, of, len(plain))
    assert len(data) == pf.frame_size(len(plain))
    assert b"".join(pf.read_segments(job, header, data, 0)) == plain
    return header.salt


@pytest.mark.parametrize("options, size, count", [
    ([], 0, 1), ([], 1, 3), ([], 100_000, 4), (["--label", "x"], 200_000, 5), (["-c", "kuznyechik"], 20_000, 2)])
def test_parts_and_receipts_have_the_specified_form(key, options, size, count):
    plain = some_bytes(size)
    plan_and_seal(key, plain, count, "dir", *options)
    job = pf.read_job_file(content("dir/job"))[0]
    salts = []
    for i, piece in enumerate(pf.cut(plain, count)):
        salts.append(check_part(job, content(f"dir/{pf.part_name(i)}"), i, count, piece))
        seal("dir", i, "-o", "elsewhere", "--receipt", "receipt")
        salts.append(check_part(job, content("elsewhere"), i, count, piece))
        assert content("receipt") == pf.make_receipt(job, content("elsewhere"))
        assert pf.read_receipt(job, content("receipt")) == pf.read_header(content("elsewhere"), 0)
    assert len(set(salts)) == 2 * count


@pytest.mark.parametrize("suite, label", [(pf.AES, b""), (pf.AES, b"label"), (pf.KUZNYECHIK, b"x")])
@pytest.mark.parametrize("cut", [True, False])
def test_parts_of_both_implementations_can_be_joined(key, suite, label, cut):
    """The independent one makes the plan and parts 0 and 2, and one receipt; the program does the rest."""
    plain, count = some_bytes(60_000), 4
    write_input("input", plain)
    job, pieces = pf.new_job(suite, label, keys=[KEY]), pf.cut(plain, 4)
    own = [pf.frame(job, pf.PART, i, count * cut, piece) for i, piece in enumerate(pieces)]
    pf.write_directory("dir", job, [own[0], None, None, None], joined=False, count=count,
                       input=pf.planned("input") if cut else pf.NO_INPUT)
    seal("dir", 1, input=pieces[1])
    seal("dir", 3, "-o", "elsewhere", "--receipt", "receipt3", input=pieces[3])
    secret_file("receipt2", pf.make_receipt(job, own[2]))
    join("dir", "--receipts", "receipt3", "receipt2")
    secret_file("dir/part.0000002", own[2])
    shutil.copy("elsewhere", "dir/part.0000003")
    opens("dir", key, plain, label.decode())


@pytest.mark.parametrize("options", [["-l", "cpu:1", "-b", "16K"], ["-l", "cpu:3", "-b", "64K"], ["-l", "cpu:2"]])
def test_every_lane_seals_parts(key, options):
    plain = some_bytes(300_000)
    write_input("plain", plain)
    plan(key, "dir", input="plain", count=2)
    seal("dir", 0, *options, "--verify")
    seal("dir", 1, *options, "--verify", "-i", "plain")
    join("dir")
    opens("dir", key, plain)


def test_parts_of_any_length_from_pipes_and_files(key):
    lengths = [0, 1, 16383, 16384, 0, 100_000, 200_000, 33_000]
    plain = some_bytes(sum(lengths))
    plan(key, "dir")
    at = 0
    for i, length in enumerate(lengths):
        piece = plain[at : at + length]
        pathlib.Path("piece").write_bytes(piece)
        if i % 2:
            seal("dir", i, "-b", "64K", input=piece)
        elif i % 4:
            seal("dir", i, "-i", "piece")
        else:
            seal("dir", i, stdin=open("piece", "rb"))
        at += length
    assert [pf.read_header(content(f"dir/{pf.part_name(i)}"), 0)[:4] for i in range(8)] == \
        [(pf.PART, i, 0, length) for i, length in enumerate(lengths)]
    join("dir", "--count", "8")
    opens("dir", key, plain)


def test_any_secret_can_be_planned_for(key):
    recipient = keygen("--x25519", "-o", "identity").out.decode().strip()
    secret_file("words", b"correct horse\n")
    pathlib.Path("recipients").write_text(recipient)
    cases = {"recipient": ["-r", recipient], "both": ["-R", "recipients", "-k", key],
             "passphrase": ["--passphrase-file", "words"], "command": ["--passphrase-command", "cat words", "-k", key]}
    for name, options in cases.items():
        found = parts("plan", *options, "-n", "1", "-o", f"{name}.dir")
        assert bool(found.warnings) == (name == "both")
        seal(f"{name}.dir", 0, input=b"text")
        join(f"{name}.dir")
    for name, options in (("recipient", ["-k", "identity"]), ("both", ["-k", "identity"]), ("both", ["-k", key]),
                          ("passphrase", ["--passphrase-file", "words"]), ("command", ["-k", key])):
        assert stream("-d", *options, f"{name}.dir").out == b"text"


def test_members_can_be_read_only_by_their_owner(key):
    os.umask(0)
    plan_and_seal(key, b"text", 1, "dir")
    assert stat.S_IMODE(os.stat("dir").st_mode) == 0o700
    assert stat.S_IMODE(os.stat("dir/job").st_mode) == 0o600
