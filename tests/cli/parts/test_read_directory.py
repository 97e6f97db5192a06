"""gpuaes-stream reads a directory with parts as it reads the single file."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from parts_steps import flip, join, part, plan_and_seal
from programs import AGAIN_OR_SALVAGE, FOLDER, PATIENCE, SANITIZED, append, content, keygen, parts, some_bytes, stream

pytest.importorskip("cryptography")
import parts_format as pf  # noqa: E402

KEY = bytes(range(32))  # in the key file
LENGTHS = [49152, 32768, 18080]  # of the parts
STARTS = [0, 49152, 81920, 100_000]
PLAIN = some_bytes(100_000)


# --- Undamaged -----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(SANITIZED, reason="sanitizers need descriptors, too")
@pytest.mark.parametrize("descriptors", [20, 40])
def test_more_parts_than_descriptors(key, descriptors):
    plan_and_seal(key, PLAIN, 60, "dir")
    few = ["sh", "-c", f'ulimit -n {descriptors} && exec "$@"', "sh"]
    assert parts("status", "dir", "--missing", wrap=few).out == b""
    parts("join", "dir", wrap=few)
    assert stream("-dk", key, "-l", "cpu:4", "-b", "16K", "dir", wrap=few).out == PLAIN


@pytest.mark.parametrize("options", [["-d", "-o", "dir/index"], ["-d", "--stats", "dir/head"], ["-t", "--trace", "dir/new"],
                                     ["--export-header", "-o", "dir/index"]])  # fmt: skip
def test_no_output_is_in_the_directory(joined, key, options):
    keys = [] if "--export-header" in options else ["-k", key]
    found = stream(*options[:-2], *keys, "dir", *options[-2:], status=2)
    option = {"-o": "--output"}.get(options[-2], options[-2])
    assert (found.error, found.hint) == (f"{option} is in dir", "write to another directory")
    assert stream("-dk", key, "dir").out == PLAIN


@pytest.mark.parametrize("name", ["dir", "single"])
def test_each_part(joined, key, name):
    join("dir", "-o", "single")
    for i in range(3):
        found = stream("-d", "--part", str(i), "-k", key, name, "-v", "--stats", "stats")
        assert found.out == PLAIN[STARTS[i] : STARTS[i + 1]]
    found = stream("-d", "--part", "3", "-k", key, name, status=2)
    assert (found.error, found.hint) == ("the file has only 3 parts", "parts are numbered from 0")


# --- Not joined, or not whole --------------------------------------------------------------------------------------


LOSSES = {"is missing": lambda name: os.unlink(name), "has 32890 bytes": lambda name: append(name, b"x"),
          "has 100 bytes": lambda name: os.truncate(name, 100), "has 0 bytes": lambda name: os.truncate(name, 0)}


@pytest.mark.parametrize("text, lose", LOSSES.items())
def test_parts_are_looked_for_before_anything_is_written(joined, key, text, lose):
    lose(part(1))
    size = pf.frame_size(LENGTHS[1])
    rest = "" if text == "is missing" else f", not {size}"
    for mode in ["-d"], ["--test"]:
        found = stream(*mode, "-k", key, "dir", status=4)
        assert found.out == b""
        assert found.error.removeprefix("dir: ").startswith(f"{part(1)} {text}{rest}"), found.error
    for other in 0, 2:
        assert stream("-d", "--part", str(other), "-k", key, "dir").out == PLAIN[STARTS[other] : STARTS[other + 1]]
    assert stream("--range", f"0:{STARTS[1]}", "-k", key, "dir").out == PLAIN[: STARTS[1]]
    assert stream("--range", f"{STARTS[2]}:", "-k", key, "dir").out == PLAIN[STARTS[2] :]
    for mode in ["-d", "--part", "1"], ["--range", "81919:2"]:
        found = stream(*mode, "-k", key, "dir", status=4)
        assert found.out == b"" and f"{part(1)} {text}{rest}" in found.error
        assert found.hint == AGAIN_OR_SALVAGE


@pytest.mark.parametrize("name", ["head", "index"])
def test_head_and_index_are_needed(joined, key, name):
    os.unlink(f"dir/{name}")
    found = stream("-d", "-k", key, "dir", status=1 if name == "index" else 4)
    assert found.error.removeprefix("dir: ") == ("dir is not joined" if name == "index" else "dir/head is missing")


def test_a_directory_with_only_the_job_file_is_not_joined(sealed, key):
    os.unlink("dir/head")
    assert stream("-d", "-k", key, "dir", status=1).error == "dir is not joined"


def test_the_head_of_a_file_without_parts(joined, key):
    stream("-k", key, "-o", "sealed", input=PLAIN)
    shutil.copy("sealed", "dir/head")
    found = stream("-d", "-k", key, "dir", status=4)
    assert found.error.removeprefix("dir: ") == "the header is not that of a file made of parts"


# --- Salvage -------------------------------------------------------------------------------------------------------


def salvaged(key, *lost):
    """Checks that exactly these ranges of the plaintext are zeros and reported."""
    want = bytearray(PLAIN)
    for begin, end in lost:
        want[begin:end] = bytes(end - begin)
    found = stream("--salvage", "-k", key, "dir", status=4 if lost else 0)
    assert found.out == want
    ranges = [warning.split("plaintext range ")[1].split(" ")[0] for warning in found.warnings]
    assert ranges == [f"{begin}:{end - begin}" for begin, end in lost]
    return found


@pytest.mark.parametrize("lose", [os.unlink, lambda name: os.truncate(name, 72), lambda name: flip(name, 50)])
@pytest.mark.parametrize("number", range(3))
def test_a_lost_part_becomes_zeros_of_its_length(joined, key, number, lose):
    lose(part(number))
    found = salvaged(key, (STARTS[number], STARTS[number + 1]))
    assert found.error == f"dir: the input is corrupt; {LENGTHS[number]} bytes of plaintext in 1 range are lost"


@pytest.mark.parametrize("spoil, lost", [
    (lambda: None, []),
    (lambda: os.truncate(part(0), 73 + 2 * 16400 - 16), [(16384, 49152)]),  # one tag in 256 ends with a zero
    (lambda: flip(part(1), 73 + 16400), [(STARTS[1] + 16384, STARTS[2])]),
    (lambda: pathlib.Path(part(1)).write_bytes(content(part(1)) + bytes(100)), []),
    (lambda: [os.unlink(part(i)) for i in range(3)], [(0, 100_000)]),
], ids=["undamaged", "too short", "a damaged segment", "too long", "all parts missing"])
def test_only_what_is_damaged_is_lost(joined, key, spoil, lost):
    spoil()
    salvaged(key, *lost)


# --- Rekey ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def other_key(work):
    keygen("-o", work.parent / "other-key")
    return str(work.parent / "other-key")


def test_rekey_replaces_the_head(joined, key, other_key):
    before = {name: pathlib.Path("dir", name).read_bytes() for name in os.listdir("dir")}
    os.chmod("dir/head", 0o640)
    stream("--rekey", "-k", key, "--new-key", other_key, "dir")
    after = {name: pathlib.Path("dir", name).read_bytes() for name in os.listdir("dir")}
    assert {name for name in before if before[name] != after[name]} == {"head"} and before.keys() == after.keys()
    assert os.stat("dir/head").st_mode & 0o777 == 0o640
    assert stream("-d", "-k", other_key, "dir").out == PLAIN
    assert stream("-d", "-k", key, "dir", status=3).out == b""
    other = bytes.fromhex(pathlib.Path(other_key).read_text())
    assert pf.outcome(pf.read_directory("dir", key=other)) == (0, PLAIN)


ONLY_HEAD = "dir is a directory, where --rekey replaces only the head"


@pytest.mark.parametrize("options, status, error", [
    (["-k", "other", "--new-key", "other"], 3, "none of the given keys opens the input"),
    (["-k", None, "--new-key", "other", "--label", "x"], 4, "label"),
    (["-k", None, "--new-key", "other", "-a", "-o", "out"], 2, ONLY_HEAD),
])
def test_a_rekey_that_is_refused_changes_nothing(joined, key, options, status, error):
    keygen("-o", "other")
    before = content("dir/head")
    found = stream("--rekey", *(key if each is None else each for each in options), "dir", status=status)
    assert error in found.error
    if status == 2:
        assert found.hint == "omit --output and --armor"
    assert content("dir/head") == before
    assert not os.path.exists("out") and not [name for name in os.listdir("dir") if name.startswith(".")]


def test_a_damaged_index_is_found_by_rekey(joined, key, other_key):
    """Its commitment is checked, as that of part 0 of a single file is."""
    flip("dir/index", 50)
    before = content("dir/head")
    stream("--rekey", "-k", key, "--new-key", other_key, "dir", status=4)
    assert content("dir/head") == before


def test_a_reader_while_the_head_is_replaced(key, other_key):
    """It sees the old or the new head, never a part of one."""
    plan_and_seal(key, PLAIN, 2, "dir", "-k", other_key)
    join("dir")
    command = [FOLDER / "gpuaes-stream", "--rekey", "-k", key, "--new-key", key, "--new-key", other_key, "dir"]
    for _ in range(10):
        writer = subprocess.Popen(command)
        for _ in range(3):
            assert stream("-d", "-k", other_key, "dir").out == PLAIN
        assert writer.wait(PATIENCE) == 0


# --- Many parts ----------------------------------------------------------------------------------------------------


def test_ten_thousand_parts(key, monkeypatch):
    """In memory, where that many files are quickly made and removed, if possible."""
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shared) as folder, monkeypatch.context() as patch:
        patch.chdir(folder)
        check_many_parts(key)


def check_many_parts(key):
    count = 1000 if SANITIZED else 10_000
    plain = some_bytes(10 * count)
    job = pf.new_job(keys=[KEY])
    sealed = pf.seal_parts(job, [plain[i : i + 10] for i in range(0, len(plain), 10)])
    pf.write_directory("dir", job, sealed, joined=False, count=count)
    for number in (7, 8, 500):
        os.rename(part(number), f"{number}")
    parts_status = [FOLDER / "gpuaes-parts", "status", "dir", "--missing"]
    assert subprocess.run(parts_status, stdout=subprocess.PIPE).stdout == b"7-8,500\n"
    for number in (7, 8, 500):
        os.rename(f"{number}", part(number))
    join("dir")
    assert stream("-d", "-k", key, "dir").out == plain
    assert stream("-d", "-k", key, "--part", str(count - 1), "dir").out == plain[-10:]
    assert stream("--range", "4995:10", "-k", key, "dir").out == plain[4995:5005]
    join("dir", "-o", "single")
    assert stream("-d", "-k", key, "single").out == plain


@pytest.mark.parametrize("at", [0, 30, 80])
def test_without_an_index_salvage_names_another_way(joined, key, at):
    flip("dir/index", at)
    found = stream("--salvage", "-k", key, "dir", status=4)
    assert found.out == b""
    assert found.hint == "if the index is damaged, read the parts without it: cat DIR/head DIR/part.* | gpuaes-stream --salvage"
    names = ["dir/head", *sorted(map(str, pathlib.Path("dir").glob("part.*")))]
    whole = b"".join(pathlib.Path(name).read_bytes() for name in names)
    assert stream("--salvage", "-k", key, input=whole, status=4).out == PLAIN


@pytest.mark.parametrize("size", [None, 50])
def test_info_names_a_part_that_is_missing(joined, size):
    name = "dir/part.0000001"
    os.unlink(name) if size is None else os.truncate(name, size)
    for options in [], ["--json"]:
        assert stream("--info", *options, "dir", status=4).error.removeprefix("dir: ") == f"{name} is missing or truncated"
