"""Results are text, CSV or JSON, with the same columns and rows, complete even if a signal stops gpuaes-bench."""

import csv
import json
import pathlib
import signal

import pytest

from processes import expect_death_by, wait_for
from programs import run, start

COLUMNS = ["lanes", "format", "cipher", "source", "chunk_bytes", "ring_chunks", "chunks", "seconds", "gb_per_s",
           "lane_us", "cipher_us", "wait_us", "rest_us"]  # fmt: skip
SHORT = "pipeline -l none:1 -b 64K --bytes 64K"


def pipeline(*words, **how):
    return run("gpuaes-bench", "pipeline", *words, **how)


def read_text(text):
    return [line.split() for line in text.splitlines()]


def read_csv(text):
    return list(csv.reader(text.splitlines()))


def read_json(text):
    rows = json.loads(text)
    assert all(list(row) == COLUMNS for row in rows)
    return [list(row.values()) for row in rows]


@pytest.mark.parametrize("source", ["file", "pipe"])
def test_each_form_has_the_same_columns_and_rows(source):
    words = f"-l none:2,cpu:1,cpu:3 -b 64K,100000 -f raw,sealed --bytes 1015808 --source {source}"
    text, table, objects = (pipeline(*words.split(), *form).out.decode() for form in ([], ["--csv"], ["--json"]))
    assert len(set(map(len, text.splitlines()))) == 1, "lines of text are not aligned"
    # In this order; sealed chunks are whole segments of 16 KiB, and raw ones whole blocks.
    sizes = [("raw", 65536), ("raw", 100000), ("sealed", 65536), ("sealed", 114688)]
    want = [[lanes, form, "aes-256", source, size, -(-1015808 // size)]
            for form, size in sizes for lanes in ("none:2", "cpu:1", "cpu:3")]  # fmt: skip
    for rows in (read_text(text), read_csv(table)):
        assert rows[0] == COLUMNS
        assert [row[:5] + row[6:7] for row in rows[1:]] == [list(map(str, row)) for row in want]
    assert [row[:5] + row[6:7] for row in read_json(objects)] == want
    for row in json.loads(objects):
        expect_consistent(row)


def expect_consistent(row):
    lanes = int(row["lanes"].rpartition(":")[2])
    assert row["seconds"] > 0 and row["ring_chunks"] > 0, row
    assert abs(row["gb_per_s"] * row["seconds"] * 1e9 - 1015808) < 100, row
    assert abs(row["lane_us"] - lanes * row["seconds"] * 1e6 / row["chunks"]) < 1e-3 * row["lane_us"], row
    assert abs(row["lane_us"] - row["cipher_us"] - row["wait_us"] - row["rest_us"]) < 1e-3 * row["lane_us"], row


@pytest.mark.parametrize("words", ["-h", "memory 1", f"{SHORT} --csv", f"{SHORT} --json",
                                   f"{SHORT} --source=file"])  # fmt: skip
def test_output_to_a_full_disk(words):
    with open("/dev/full", "wb") as full:
        result = run("gpuaes-bench", *words.split(), status=1, input=bytes(1000), via="file", stdout=full)
    assert result.error == "cannot write standard output after byte 0: No space left on device"
    assert result.hint == "free some space, or write to another file system"


# --- Stopped by a signal -------------------------------------------------------------------------------------------

FORMS = [([], read_text, 4), (["--csv"], read_csv, 4), (["--json"], read_json, 3)]
MANY = ["-l", ",".join(["none:2", "cpu:1"] * 2000), "-b", "64K", "--seconds", "0.001"]  # too many to complete
AN_HOUR = ["-l", "none:2,cpu:2", "-b", "64K", "--seconds", "3600"]


def stopped(number, lines, *words):
    """The output of a program that is stopped after that many lines and some more bytes."""
    with open("out", "w+") as out:
        child = start("gpuaes-bench", "pipeline", *words, stdout=out)
        wait_for(lambda: (text := pathlib.Path("out").read_text()) and text.count("\n") >= lines, f"{words}: {lines} lines")
        expect_death_by(child, number, words)
    return pathlib.Path("out").read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("form, read, least", FORMS)
def test_a_program_that_is_stopped_prints_complete_rows(form, read, least, number):
    rows = read(stopped(number, 4, *MANY, *form))
    assert least <= len(rows) < 4000 and {len(row) for row in rows} == {len(COLUMNS)}


def test_a_long_measurement_ends_at_once_without_a_row():
    assert json.loads(stopped(signal.SIGINT, 0, *AN_HOUR, "--json")) == []
    assert read_csv(stopped(signal.SIGTERM, 1, *AN_HOUR, "--csv")) == [COLUMNS]
