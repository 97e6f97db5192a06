"""gpuaes-parts status prints which parts are complete, missing or being attempted."""

import json
import os
import pathlib
import re
import socket
import subprocess
import time

import pytest

from parts_steps import join, plan, plan_and_seal, seal, slow_seal
from programs import FOLDER, parts, some_bytes

PLAIN = some_bytes(100_000)


def status(*options, **how):
    return parts("status", "dir", *options, **how)


def facts():
    return json.loads(status("--json").out)


def remove(*numbers):
    for number in numbers:
        os.unlink(f"dir/part.{number:07}")


def test_missing_parts_as_sbatch_takes_them(key):
    plan_and_seal(key, PLAIN, 12, "dir")
    for lost, text in ([], ""), ([0], "0\n"), ([3, 8, 9], "0,3,8-9\n"), ([1, 7, 11], "0-1,3,7-9,11\n"):
        remove(*lost)
        done = subprocess.run([FOLDER / "gpuaes-parts", "status", "dir", "--missing"], capture_output=True)
        assert (done.returncode, done.stdout.decode(), done.stderr) == (1 if lost else 0, text, b"")


def test_text_of_a_directory(key):
    plan_and_seal(key, PLAIN, 12, "dir")
    size = sum(path.stat().st_size for path in pathlib.Path("dir").glob("part.*"))
    assert status().out.decode() == f"parts     12\ncomplete  12, {size} bytes\njoined    no\n"
    remove(3, 7, 8, 9)
    size = sum(path.stat().st_size for path in pathlib.Path("dir").glob("part.*"))
    assert status().out.decode() == f"parts     12\ncomplete  8, {size} bytes\nmissing   3,7-9\njoined    no\n"
    assert facts() == {"parts": 12, "complete": 8, "bytes": size, "missing": [3, 7, 8, 9], "attempts": [],
                       "joined": False}


def test_without_the_number_of_parts_only_those_listed_count(key):
    plan(key, "dir")
    assert status().out.decode() == "parts     not known\ncomplete  0, 0 bytes\njoined    no\n"
    for number in (0, 5):
        seal("dir", number, input=b"text")
    assert facts() == {"parts": None, "complete": 2, "bytes": 2 * 93, "missing": [1, 2, 3, 4], "attempts": [],
                       "joined": False}
    found = status("--missing", status=2)
    assert found.error == "--missing requires a plan with the number of parts"
    assert found.hint == "make the plan with -n N"


def test_names_that_are_not_those_of_parts_do_not_count(key):
    plan(key, "dir")
    seal("dir", 0, input=b"text")
    for name in ("part.1", "part.00000001", "part.000000x", "part.9999999x", "parts", "part.0000000~", ".part.",
                 ".part.0000001", ".part.0000001.", ".part.0000001.x.y", ".index."):
        pathlib.Path("dir", name).touch()
    assert (facts()["complete"], facts()["missing"], facts()["attempts"]) == (1, [], [])


def test_attempts_are_shown_with_host_process_and_size(key):
    plan(key, "dir", count=2)
    host = socket.gethostname()
    with slow_seal("dir", 1, written=some_bytes(100_000)) as process:
        attempt = facts()["attempts"][0]
        assert (attempt["file"], attempt["host"], attempt["process"]) == ("part.0000001", host, str(process.pid))
        assert attempt["bytes"] > 16384 and attempt["idle_seconds"] < 20
        line = next(line for line in status().out.decode().splitlines() if line.startswith("attempt"))
        assert re.fullmatch(rf"attempt   part\.0000001 by process {process.pid} on {re.escape(host)}, "
                            r"\d+ bytes, last written \d+ s ago", line)
        process.kill()
        process.communicate()
    assert [each["process"] for each in facts()["attempts"]] == [str(process.pid)]
    for part in (0, 1):
        seal("dir", part, input=b"text")
    join("dir")
    assert facts()["attempts"] == []


@pytest.mark.parametrize("name, host, process", [
    (".part.0000001.host.123.Ab3_x-", "host", "123"),
    (".part.0000001.node7.example.org.123.abcdef", "node7.example.org", "123"),
    (".index.host.9.abcdef", "host", "9")])
def test_names_of_attempts(key, name, host, process):
    plan(key, "dir", count=2)
    pathlib.Path("dir", name).write_bytes(b"12345")
    os.utime(f"dir/{name}", (time.time() - 1000, time.time() - 1000))
    attempt = facts()["attempts"][0]
    assert (attempt["host"], attempt["process"], attempt["bytes"]) == (host, process, 5)
    assert 990 <= attempt["idle_seconds"] < 1060


def test_a_fifo_with_the_name_of_an_attempt_does_not_block(key):
    plan(key, "dir", count=2)
    os.mkfifo("dir/.part.0000001.host.123.abcdef")
    assert facts()["attempts"][0]["bytes"] == 0


def test_secrets_are_not_needed_but_the_job_file_is(key):
    plan_and_seal(key, PLAIN, 2, "dir")
    os.unlink(key)
    assert facts()["complete"] == 2
    os.unlink("dir/job")
    assert status(status=1).error == "dir is not joined"
    os.unlink("dir/head")
    assert status(status=1).error == "dir does not contain a sealed file in parts"
