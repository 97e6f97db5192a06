"""Parts that are objects, in moto's S3: attempts and plans never mix, whatever is killed, repeated or run at once."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

import pytest

from processes import wait_for
from programs import FOLDER, KEY, run, script, some_bytes
from recipes import examples

pytest.importorskip("cryptography")
pytest.importorskip("fsspec.implementations.chained")
import fsspec  # noqa: E402
import sources  # noqa: E402
import objectparts  # noqa: E402
from gpuaes_stream import NotAuthentic, SealedFile  # noqa: E402

PLAIN = some_bytes(3_000_000)
URL = "s3://bucket/disk.sealed"


@pytest.fixture
def bucket(s3, key, monkeypatch):
    """The file system, with an empty bucket, and the plan of a file of three parts."""
    monkeypatch.setenv("PATH", f"{FOLDER}:{os.environ['PATH']}")
    monkeypatch.setitem(fsspec.config.conf, "s3", s3)
    pathlib.Path("disk.img").write_bytes(PLAIN)
    os.utime("disk.img", (0, 0))  # gpuaes-parts plan waits for a file that has just been modified
    for plan in "disk.sealed", "other.sealed":
        run("gpuaes-parts", "plan", "-k", key, "-n", "3", "-o", plan, "disk.img")
    files = fsspec.filesystem("s3", **s3)
    files.rm("bucket", recursive=True)
    files.mkdir("bucket")
    return files


def call(command, *options, status=0, plan="disk.sealed", url=URL):
    """Runs the program in this process, as starting one takes seconds. Returns its error message, which is one line."""
    try:
        objectparts.main([command, plan, url, *options])
        ended = 0
    except SystemExit as error:
        ended = error.code
    message = ended if isinstance(ended, str) else ""
    assert bool(message) == message.startswith("objectparts.py: error: ") and "\n" not in message
    assert (1 if message else ended) == status, message
    return message


def seal_all(**options):
    for number in "012":
        call("seal", number, **options)


def names(files, prefix):
    files.invalidate_cache()
    return [path.rsplit("/", 1)[1] for path in files.find("bucket") if path.startswith(f"bucket/disk.sealed/{prefix}")]


def opened(files):
    with SealedFile("bucket/disk.sealed", key=KEY, filesystem=files) as file:
        return file.read()


def test_attempts_at_the_same_time(bucket, capfd):
    """Two at each part: one of them is in the file, whichever it is."""
    call("missing")
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert [*pool.map(lambda number: call("seal", number), "012201")] == 6 * [""]
    call("missing")
    assert capfd.readouterr().out == "0 1 2\n\n" and len(names(bucket, "part.")) == 6
    call("seal", "1")
    call("join")
    call("join")
    assert capfd.readouterr().err == """\
objectparts.py: part 1 is already complete
objectparts.py: the parts are joined; once you have read the whole file, remove disk.sealed/job
objectparts.py: the parts are already joined
"""
    assert sorted(os.listdir("disk.sealed")) == ["head", "job"]
    assert opened(bucket) == PLAIN


HALF = """case $1 in
  seal) REAL/gpuaes-parts "$@" | head -c 600000 && touch half && sleep ${SLEEP-0} && exit 1 ;;
  *) exec REAL/gpuaes-parts "$@" ;;
esac
"""


def test_attempts_that_end_early(bucket, work, monkeypatch):
    """gpuaes-parts fails, or everything is killed: no part or receipt is left, and another attempt completes it."""
    script("bin/gpuaes-parts", HALF.replace("REAL", str(FOLDER)))
    whole = os.environ["PATH"]
    monkeypatch.setenv("PATH", f"{work}/bin:{whole}")
    assert call("seal", "1", status=1) == ""  # gpuaes-parts prints the message
    assert names(bucket, "") == ["head"]
    os.mkdir("objects")
    assert call("seal", "1", status=1, url="objects") == "" and os.listdir("objects") == ["head"]
    os.unlink("half")
    pathlib.Path("s3.json").write_text(json.dumps({"s3": fsspec.config.conf["s3"]}))
    environment = {**os.environ, "FSSPEC_CONFIG_DIR": os.getcwd(), "SLEEP": "10"}
    command = [sys.executable, sources.READER / "objectparts.py", "seal", "disk.sealed", URL, "1"]
    with subprocess.Popen(command, env=environment) as process:
        wait_for(lambda: os.path.exists("half"), "half of the part")
        process.kill()
    assert names(bucket, "") == ["head"]
    assert "3 of 3 parts missing;" in call("join", status=1)
    monkeypatch.setenv("PATH", whole)
    seal_all()
    call("join")
    assert len(names(bucket, "part.")) == 3 and opened(bucket) == PLAIN


def test_the_first_index_stays(bucket, monkeypatch, capsys):
    """Two processes that join may choose different attempts."""
    seal_all()
    call("join")
    index = bucket.cat_file("bucket/disk.sealed/index")
    real, hidden = objectparts.Objects.names, [{"index"}]
    monkeypatch.setattr(objectparts.Objects, "names", lambda *words: real(*words) - (hidden.pop() if hidden else set()))
    call("join")
    assert capsys.readouterr().err.endswith("the parts are already joined\n") and not hidden
    assert bucket.cat_file("bucket/disk.sealed/index") == index and opened(bucket) == PLAIN


def test_two_joins_in_one_directory(bucket, monkeypatch):
    """The other one removes the index of this one as that of a join that was killed."""
    seal_all()
    real, runs = subprocess.run, []

    def without_index(command, **options):
        real(command, **options)
        runs.append(command)
        if len(runs) == 1:
            os.unlink("disk.sealed/index")

    monkeypatch.setattr(subprocess, "run", without_index)
    call("join")
    assert len(runs) == 2 and opened(bucket) == PLAIN


def test_a_join_that_was_killed(bucket):
    """It left an index in the directory. If there are no parts at the URL, it may be that of another join, and stays."""
    pathlib.Path("disk.sealed/index").write_bytes(b"left")
    call("join", status=1)
    assert os.path.exists("disk.sealed/index")
    os.rename("disk.sealed/index", "index")
    seal_all()
    os.rename("index", "disk.sealed/index")
    one = f"bucket/disk.sealed/{names(bucket, 'receipt.0000001')[0]}"
    bucket.pipe_file(one, b"damaged")
    call("join", status=1)
    bucket.rm(one)
    call("seal", "1")
    call("join")
    assert opened(bucket) == PLAIN


FOREIGN = "is not the head of other.sealed: other parts are at this URL"


def test_another_plan_at_the_same_url(bucket):
    """Whatever is there belongs to the plan whose head is there."""
    call("seal", "1")
    for words in ("seal", "0"), ("seal", "1"), ("missing",), ("join",):
        assert FOREIGN in call(*words, plan="other.sealed", status=1)
    seal_all()
    call("join")
    for words in ("seal", "0"), ("missing",), ("join",):
        assert FOREIGN in call(*words, plan="other.sealed", status=1)
    assert len(names(bucket, "part.")) == 3 and opened(bucket) == PLAIN
    bucket.rm("bucket/disk.sealed/head")
    for words in ("seal", "0"), ("missing",), ("join",):
        for plan in "disk.sealed", "other.sealed":
            assert "head is missing, but other objects are at this URL" in call(*words, plan=plan, status=1)


def test_two_plans_at_the_same_time(bucket, monkeypatch):
    """Both find nothing at the URL."""
    real = objectparts.Objects.names

    def names_before(objects, prefix=""):
        found = real(objects, prefix)
        monkeypatch.setattr(objectparts.Objects, "names", real)
        call("seal", "0")
        return found

    monkeypatch.setattr(objectparts.Objects, "names", names_before)
    assert FOREIGN in call("seal", "0", plan="other.sealed", status=1)
    seal_all()
    call("join")
    assert len(names(bucket, "part.")) == 3 and opened(bucket) == PLAIN


def test_another_process_puts_the_head_first(bucket, monkeypatch, capsys):
    """Between the attempt to read it and the list of the objects."""
    real = objectparts.Objects.names

    def names_after(objects):
        monkeypatch.setattr(objectparts.Objects, "names", real)
        seal_all()
        return real(objects)

    monkeypatch.setattr(objectparts.Objects, "names", names_after)
    call("missing")
    assert capsys.readouterr().out == "\n"


def test_urls_that_begin_alike(bucket, capsys):
    call("seal", "1", url="s3://bucket/a2")
    call("seal", "0", plan="other.sealed", url="s3://bucket/a")
    call("seal", "2", plan="other.sealed", url="s3://bucket/a/receipt.")
    call("seal", "0", url="s3://bucket")
    bucket.pipe_file("bucket/empty/", b"")  # as made by a browser of objects
    for plan, url in ("disk.sealed", "a2/"), ("other.sealed", "a"), ("disk.sealed", ""), ("disk.sealed", "empty"):
        call("missing", plan=plan, url=f"s3://bucket/{url}")
    assert capsys.readouterr().out == "0 2\n1 2\n1 2\n0 1 2\n"


def test_receipts_that_are_damaged_or_of_another_plan(bucket, capsys):
    """The message names them. Once they are removed, the parts can be sealed again."""
    seal_all()
    seal_all(plan="other.sealed", url="s3://bucket/other")
    zero, one, two = (f"bucket/disk.sealed/{name}" for name in names(bucket, "receipt."))
    foreign = next(path for path in bucket.find("bucket/other") if "receipt.0000000" in path)
    original = bucket.cat_file(one)
    bucket.rm(zero)
    zero = zero[: zero.index("receipt.")] + foreign.rpartition("/")[2]
    bucket.pipe_file(zero, bucket.cat_file(foreign))
    for data in original[:-1], original + b"x", b"", bytes([original[0] ^ 1]) + original[1:], bucket.cat_file(two):
        bucket.pipe_file(one, data)
        message = call("join", status=1)
        assert message.endswith(f"(damaged or from another plan) and seal the parts again: {zero} {one}")
        assert call("seal", "1", status=1).endswith(f"again: {one}")
    bucket.rm([zero, one])
    capsys.readouterr()
    call("missing")
    assert capsys.readouterr().out == "0 1\n"
    seal_all()
    call("join")
    assert opened(bucket) == PLAIN


@pytest.mark.parametrize("cipher", ["aes-256", "kuznyechik"])
def test_an_index_of_another_plan(bucket, key, cipher):
    for plan in "a", "b":
        run("gpuaes-parts", "plan", "-k", key, "-n", "3", "-c", cipher, "--label", plan, "-o", plan, "disk.img")
        seal_all(plan=plan, url=f"s3://bucket/{plan}")
        call("join", plan=plan, url=f"s3://bucket/{plan}")
    call("join", plan="a", url="s3://bucket/a")
    part = next(path for path in bucket.find("bucket/a") if "part.0000000" in path)
    for data in bucket.cat_file("bucket/b/index"), bucket.cat_file(part), b"":
        bucket.pipe_file("bucket/a/index", data)
        message = call("join", plan="a", url="s3://bucket/a", status=1)
        assert "bucket/a/index is damaged or from another plan" in message
    bucket.rm("bucket/a/index")
    call("join", plan="a", url="s3://bucket/a")


def test_errors_are_one_line(bucket, key, monkeypatch, capfd):
    """Also those of fsspec and of the packages that it uses."""
    assert call("seal", "1", url="s4://bucket/x", status=1).endswith("error: Protocol not known: s4")
    assert "gcsfs" in call("seal", "1", url="gs://bucket/x", status=1)
    assert "bucket does not exist" in call("seal", "1", url="s3://none/x", status=1)
    assert "'none/job'" in call("seal", "1", plan="none", status=1)
    call("seal", "1", url="s3://", status=1)
    run("gpuaes-parts", "plan", "-k", key, "-o", "streams.sealed")
    assert "make the plan with -n" in call("missing", plan="streams.sealed", status=1)
    run("gpuaes-parts", "plan", "-k", key, "-n", "2", "-o", "files.sealed")
    assert "with -i," in call("seal", "0", plan="files.sealed", status=1)
    call("seal", "0", "-i", "disk.img", plan="files.sealed")
    job = pathlib.Path("files.sealed/job").read_bytes()
    pathlib.Path("files.sealed/job").write_bytes(job[:60])
    assert "files.sealed/job is damaged" in call("missing", plan="files.sealed", status=1)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": f"http://127.0.0.1:{unused.getsockname()[1]}"})
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        call("seal", "1", status=1)
        monkeypatch.setitem(fsspec.config.conf["s3"], "key", "user")
        monkeypatch.setitem(fsspec.config.conf["s3"], "secret", "password")
        assert "Could not connect" in call("seal", "1", status=1)
    os.mkdir("objects")
    monkeypatch.setenv("PATH", "")
    assert call("seal", "1", url="objects", status=1).endswith("error: No such file or directory: 'gpuaes-parts'")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    assert "fsspec.core" in call("seal", "1", status=1)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("words", [["seal"], ["seal", "0", "--", "cat"], ["missing", "1"], ["join", "-q"]])
def test_usage(words, capsys):
    call(*words, status=2)
    assert "objectparts.py: error: " in capsys.readouterr().err


def test_damaged_objects(bucket):
    """Missing, truncated, of another attempt, changed."""
    seal_all()
    first = f"bucket/disk.sealed/{names(bucket, 'part.0000001')[0]}"
    bucket.rm(first.replace("part", "receipt"))
    call("seal", "1")
    call("join")
    [second] = {f"bucket/disk.sealed/{name}" for name in names(bucket, "part.0000001")} - {first}
    assert opened(bucket) == PLAIN
    original = bucket.cat_file(second)
    changed = original[:-1] + bytes([original[-1] ^ 1])
    for data, message in ((None, "missing"), (original[:-1], "wrong size"), (changed, "is not authentic"),
                          (bucket.cat_file(first), "missing or damaged")):
        bucket.rm(second) if data is None else bucket.pipe_file(second, data)
        with pytest.raises(NotAuthentic, match=message):
            opened(bucket)


def test_recipe(bucket, monkeypatch):
    """As printed in gpuaes-recipes(7), with two parts."""
    section = examples("Encrypt one file into many objects")[0]
    shutil.rmtree("disk.sealed")
    pathlib.Path("backup.key").write_bytes(KEY)
    pathlib.Path("s3.json").write_text(json.dumps({"s3": fsspec.config.conf["s3"]}))
    for name in "objectparts.py", "sealedfile.py":
        shutil.copy(sources.READER / name, ".")
    commands = re.sub(r"(?m)^\$ ", "", section).replace("-n 64", "-n 2").replace("//backups", "//bucket")
    commands = commands.replace("python3", sys.executable)
    environment = {**os.environ, "FSSPEC_CONFIG_DIR": os.getcwd()}
    subprocess.run(["bash", "-euo", "pipefail", "-c", commands], env=environment, check=True)
    assert len(names(bucket, "part.")) == 2 and not os.path.exists("disk.sealed/job")


def test_a_file_system_that_ignores_the_prefix_of_names(key, monkeypatch):
    monkeypatch.setenv("PATH", f"{FOLDER}:{os.environ['PATH']}")
    pathlib.Path("disk.img").write_bytes(PLAIN)
    run("gpuaes-parts", "plan", "-k", key, "-n", "3", "-o", "disk.sealed", "disk.img")
    os.mkdir("objects")
    url = f"file://{os.path.abspath('objects')}"
    seal_all(url=url)
    call("join", url=url)
    with SealedFile(os.path.abspath("objects"), key=KEY) as file:
        assert file.read() == PLAIN
