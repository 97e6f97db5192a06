"""Messages about the data of a file begin with its name. Details and progress do if there are several files."""

import re

import pytest

from programs import flipped, some_bytes, stream

DAMAGE = "the input is corrupt at byte 32975; 32768 bytes of plaintext before that were verified"
LOSS = "the input is corrupt at byte 32975; plaintext range 32768:16384 is lost"


@pytest.fixture
def sealed(key):
    """The names of an undamaged and a damaged file."""
    whole = stream("-k", key, input=some_bytes(60000)).out
    for name, data in (("whole", whole), ("damaged", flipped(whole, 32975 + 5))):
        with open(name, "wb") as file:
            file.write(data)
    return "whole", "damaged"


@pytest.mark.parametrize("options", [(), ("whole",)])
def test_errors_and_warnings_name_the_file(key, sealed, options):
    assert stream("-t", "-k", key, "damaged", *options, status=4).error == f"damaged: {DAMAGE}"
    salvaged = stream("-t", "--salvage", "-k", key, "damaged", *options, status=4)
    assert salvaged.warnings == [f"damaged: {LOSS}"]
    assert salvaged.error == "damaged: the input is corrupt; 16384 bytes of plaintext in 1 range are lost"


def test_standard_input_alone_has_no_name(key, sealed):
    with open("damaged", "rb") as file:
        assert stream("-d", "-k", key, stdin=file, status=4).error == DAMAGE
    with open("damaged", "rb") as file:
        assert stream("--salvage", "-k", key, stdin=file, status=4).warnings == [LOSS]


@pytest.mark.parametrize("level", ["-v", "-vv"])
def test_details_of_several_files_name_theirs(key, sealed, level):
    notes = stream("-t", level, "-k", key, *sealed, status=4).notes
    assert {note.split(": ")[0] for note in notes} == set(sealed)
    assert any(note.startswith("whole: workers cpu") for note in notes)
    alone = stream("-t", level, "-k", key, "whole").notes
    assert any(note.startswith("workers cpu") for note in alone)


def test_progress_of_several_files_names_theirs(key, sealed):
    lines = stream("-t", "-P", "-k", key, *sealed, status=4).notes
    assert [line.split(":")[0] for line in lines] == ["whole", "damaged"]
    (alone,) = stream("-t", "-P", "-k", key, "whole").notes
    assert re.match(r"[ .\d]{4}KiB ", alone)


@pytest.mark.parametrize("options, printed", [((), b""), (("-v",), b"whole: ok\n"), (("-q",), b"")])
def test_one_file_is_reported_as_ok_only_with_v(key, sealed, options, printed):
    assert stream("-t", *options, "-k", key, "whole").out == printed
