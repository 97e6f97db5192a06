"""Parts that are objects, in moto's S3: attempts that are killed, repeated or run at the same time never mix."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from processes import wait_for
from programs import FOLDER, KEY, run, some_bytes

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
    run("gpuaes-parts", "plan", "-k", key, "-n", "3", "-o", "disk.sealed", "disk.img")
    files = fsspec.filesystem("s3", **s3)
    files.rm("bucket", recursive=True)
    files.mkdir("bucket")
    return files


def call(command, *options, status=0):
    """Runs the program in this process, as starting one takes seconds."""
    try:
        objectparts.main([command, "disk.sealed", URL, *options])
        ended = 0
    except SystemExit as error:
        ended = error.code
    assert ended == status


def names(files, prefix):
    files.invalidate_cache()
    return [path.rsplit("/", 1)[1] for path in files.find("bucket") if path.startswith(f"bucket/disk.sealed/{prefix}")]


def opened(files):
    with SealedFile("bucket/disk.sealed", key=KEY, filesystem=files) as file:
        return file.read()


def test_attempts_at_the_same_time(bucket, capsys):
    """Two at each part: one of them is in the file, whichever it is."""
    call("missing")
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert [*pool.map(lambda number: call("seal", number), "012201")] == 6 * [None]
    call("missing")
    assert capsys.readouterr().out == "0 1 2\n\n" and len(names(bucket, "part.")) == 6
    call("seal", "1")
    call("join")
    call("join")
    assert capsys.readouterr().err == "part 1 is already complete\nthe parts are already joined\n"
    assert opened(bucket) == PLAIN


HALF = """#!/bin/sh
case $1 in
  seal) REAL/gpuaes-parts "$@" | head -c 600000 && touch half && sleep ${SLEEP-0} && exit 1 ;;
  *) exec REAL/gpuaes-parts "$@" ;;
esac
"""


def test_attempts_that_end_early(bucket, work, monkeypatch):
    """gpuaes-parts fails, or everything is killed: there is no part and no receipt, and another attempt completes it."""
    os.mkdir("bin")
    pathlib.Path("bin/gpuaes-parts").write_text(HALF.replace("REAL", str(FOLDER)))
    os.chmod("bin/gpuaes-parts", 0o755)
    whole = os.environ["PATH"]
    monkeypatch.setenv("PATH", f"{work}/bin:{whole}")
    call("seal", "1", status=1)
    assert names(bucket, "") == []
    os.unlink("half")
    pathlib.Path("s3.json").write_text(json.dumps({"s3": fsspec.config.conf["s3"]}))
    environment = {**os.environ, "FSSPEC_CONFIG_DIR": os.getcwd(), "SLEEP": "10"}
    command = [sys.executable, sources.READER / "objectparts.py", "seal", "disk.sealed", URL, "1"]
    with subprocess.Popen(command, env=environment) as process:
        wait_for(lambda: os.path.exists("half"), "half of the part")
        process.kill()
    assert names(bucket, "") == []
    call("join", status=1)
    monkeypatch.setenv("PATH", whole)
    for number in "012":
        call("seal", number)
    call("join")
    assert len(names(bucket, "part.")) == 3 and opened(bucket) == PLAIN


def test_the_first_index_stays(bucket, monkeypatch, capsys):
    """Two processes that join may choose different attempts."""
    for number in "012":
        call("seal", number)
    call("join")
    index = bucket.cat_file("bucket/disk.sealed/index")
    objects = objectparts.Objects(URL)
    real = objects.names
    monkeypatch.setattr(objects, "names", lambda prefix: real(prefix) - {"index"})
    objectparts.join(objects, "disk.sealed")
    assert "another process has joined" in capsys.readouterr().err
    assert bucket.cat_file("bucket/disk.sealed/index") == index and opened(bucket) == PLAIN


def test_damaged_objects(bucket):
    """Missing, truncated, of another attempt, changed."""
    for number in "012":
        call("seal", number)
    first = f"bucket/disk.sealed/{names(bucket, 'part.0000001')[0]}"
    bucket.rm(first.replace("part", "receipt"))
    call("seal", "1")
    call("join")
    [second] = {f"bucket/disk.sealed/{name}" for name in names(bucket, "part.0000001")} - {first}
    assert opened(bucket) == PLAIN
    original = bucket.cat_file(second)
    for data, message in ((None, "missing"), (original[:-1], "wrong size"), (bucket.cat_file(first), "missing or damaged"),
                          (original[:500_000] + b"x" + original[500_001:], "is not authentic")):
        bucket.rm(second) if data is None else bucket.pipe_file(second, data)
        with pytest.raises(NotAuthentic, match=message):
            opened(bucket)


def test_recipe(bucket, monkeypatch):
    """As printed in gpuaes-recipes(7), with two parts."""
    page = (pathlib.Path(__file__).parents[3] / "man/gpuaes-recipes.7").read_text()
    section = re.search(r"(?ms)^\.Ss Encrypt one file into many objects\n.*?^\.Bd.*?\n(.*?)^\.Ed", page)[1]
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
    for number in "012":
        objectparts.main(["seal", "disk.sealed", url, number])
    objectparts.main(["join", "disk.sealed", url])
    with SealedFile(os.path.abspath("objects"), key=KEY) as file:
        assert file.read() == PLAIN
