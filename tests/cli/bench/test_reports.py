"""Results are text or CSV, with the same columns and rows, complete even if a signal stops gpuaes-bench."""

import csv
import pathlib
import signal

import pytest

from processes import expect_death_by, wait_for
from programs import run, start

COLUMNS = ["lanes", "format", "cipher", "chunk_bytes", "ring_chunks", "seconds", "gb_per_s"]
SHORT = "pipeline -l none:1 -b 64K --seconds 0.001"


def pipeline(*words, **how):
    return run("gpuaes-bench", "pipeline", *words, **how)


def read_text(text):
    return [line.split() for line in text.splitlines()]


def read_csv(text):
    return list(csv.reader(text.splitlines()))


def test_both_forms_have_the_same_columns_and_rows():
    words = "-l none:2,cpu:1,cpu:3 -b 64K,100000 -f raw,sealed --seconds 0.001"
    text, table = (pipeline(*words.split(), *form).out.decode() for form in ([], ["--csv"]))
    assert len(set(map(len, text.splitlines()))) == 1, "lines of text are not aligned"
    # In this order; sealed chunks are whole segments of 16 KiB, and raw ones whole blocks.
    sizes = [("raw", 65536), ("raw", 100000), ("sealed", 65536), ("sealed", 114688)]
    want = [[lanes, form, "aes-256", str(size)] for form, size in sizes for lanes in ("none:2", "cpu:1", "cpu:3")]
    for rows in (read_text(text), read_csv(table)):
        assert rows[0] == COLUMNS and [row[:4] for row in rows[1:]] == want
        assert all(float(number) > 0 for row in rows[1:] for number in row[4:])


@pytest.mark.parametrize("words", ["-h", "memory 1", SHORT, f"{SHORT} --csv"])
def test_output_to_a_full_disk(words):
    with open("/dev/full", "wb") as full:
        result = run("gpuaes-bench", *words.split(), status=1, input=bytes(1000), via="file", stdout=full)
    assert result.error == "cannot write standard output after byte 0: No space left on device"
    assert result.hint == "free some space, or write to another file system"


# --- Stopped by a signal -------------------------------------------------------------------------------------------

FORMS = [([], read_text), (["--csv"], read_csv)]
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
@pytest.mark.parametrize("form, read", FORMS)
def test_a_program_that_is_stopped_prints_complete_rows(form, read, number):
    rows = read(stopped(number, 4, *MANY, *form))
    assert 4 <= len(rows) < 4000 and {len(row) for row in rows} == {len(COLUMNS)}


def test_a_long_measurement_ends_at_once_without_a_row():
    assert read_csv(stopped(signal.SIGTERM, 1, *AN_HOUR, "--csv")) == [COLUMNS]
