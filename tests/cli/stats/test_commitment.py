"""The commitment that decryption reports, which identifies the input."""

import json
import pathlib

import pytest

from parts_steps import seal_in_parts
from programs import flipped, some_bytes, stream

PLAIN = some_bytes(100_000)
MESSAGE = 119  # offset of the salt in a sealed file with one slot for a key file


@pytest.fixture
def in_parts(key):
    """The name of a file made of parts."""
    seal_in_parts(key, PLAIN, 3, "in-parts")
    return "in-parts"


def commitment(*options, **how):
    """What a run reports with --stats, which must be what it reports with -v."""
    notes = stream(*options, "-v", "--stats", "stats", **how).notes
    reported = json.loads(pathlib.Path("stats").read_bytes())["commitment"]
    assert [note for note in notes if "commitment" in note] == ([f"commitment {reported}"] if reported else [])
    return reported


def in_message(file, at=MESSAGE):
    """The commitment of the message at this offset of a file."""
    return pathlib.Path(file).read_bytes()[at + 24 : at + 56].hex()


def in_index(file, count):
    """The commitment of the index, which is before the number of parts."""
    segments = 40 * count + 16
    return in_message(file, pathlib.Path(file).stat().st_size - 8 - segments - 56)


@pytest.mark.parametrize("options", [["-c", "aes-256"], ["-c", "kuznyechik"], ["--label", "a label"]])
@pytest.mark.parametrize("mode", [["-d"], ["--test"], ["--range", "5:10"], ["--share", "1/3", "-d"], ["--salvage"]])
def test_every_mode_of_decryption_reports_that_of_the_file(key, options, mode):
    stream("-k", key, *options, "-o", "sealed", input=PLAIN)
    label = options if "--label" in options else []
    assert commitment(*mode, "-k", key, *label, "sealed") == in_message("sealed")


@pytest.mark.parametrize("mode", [["-d"], ["--test"], ["--range", "5:10"], ["--share", "1/2", "-d"], ["--salvage"]])
def test_a_file_made_of_parts_has_that_of_its_index(key, in_parts, mode):
    assert commitment(*mode, "-k", key, in_parts) == in_index(in_parts, 3)


def test_an_index_that_is_not_authentic_has_none(key, in_parts):
    damaged = flipped(pathlib.Path(in_parts).read_bytes(), -9)  # the tag of the index
    for options, how in (([], {"input": damaged}), (["-i", "damaged"], {})):
        pathlib.Path("damaged").write_bytes(damaged)
        assert commitment("--salvage", "-k", key, *options, status=4, **how) is None


def test_all_parts_of_a_file_have_the_same_and_those_of_another_file_another(key):
    for name in ("sealed", "other"):
        stream("-k", key, "-o", name, input=PLAIN)
    found = [{commitment("-d", "-k", key, "--share", f"{i}/7", name) for i in range(7)} for name in ("sealed", "other")]
    assert [len(each) for each in found] == [1, 1] and found[0] != found[1]


def test_encryption_and_formats_without_authentication_have_none(key):
    assert commitment("-k", key, "-o", "sealed", input=PLAIN) is None
    raw = ["-f", "raw", "--iv", "00" * 16, "-k", key]
    assert commitment(*raw, "-d", "-o", "plain", input=PLAIN) is None
