"""What --salvage reports if the end of the input is missing."""

import pathlib

import pytest

from parts_steps import seal_in_parts
from programs import some_bytes, stream

PLAIN = some_bytes(3_000_000)
HEADER = 175  # size of a header with one slot for a key file
SEGMENT, SEALED = 16384, 16400  # size of the plaintext and the ciphertext of a segment


@pytest.fixture
def cut(key):
    """The name of the first 100,000 bytes of a sealed file, and how much plaintext its whole segments have."""
    sealed = stream("-k", key, input=PLAIN).out
    pathlib.Path("cut").write_bytes(sealed[:100_000])
    return "cut", (100_000 - HEADER) // SEALED * SEGMENT


def test_everything_after_the_cut_is_lost(key, cut):
    name, whole = cut
    rest = (100_000 - HEADER) % SEALED - 16
    found = stream("--salvage", "-k", key, name, "-o", "out", status=4)
    assert pathlib.Path("out").read_bytes() == PLAIN[:whole] + bytes(rest)
    at = HEADER + whole // SEGMENT * SEALED
    assert found.warnings == [
        f"cut: the input is corrupt or truncated at byte {at}; plaintext range {whole}:{rest} and everything after it are lost"
    ]
    assert found.error == (
        "cut: the input is truncated, or its last segment is corrupt; "
        f"{rest} bytes of plaintext in 1 range are lost, and everything after them"
    )


@pytest.mark.parametrize("size", [100_000, 250_000, 2_500_000])
@pytest.mark.parametrize("pipe", [False, True])
def test_the_error_says_where_a_file_made_of_parts_was_cut(key, size, pipe):
    seal_in_parts(key, PLAIN, 3, "sealed")
    data = pathlib.Path("sealed").read_bytes()[:size]
    pathlib.Path("cut").write_bytes(data)
    how = {"input": data} if pipe else {"stdin": open("cut", "rb")}
    found = stream("--salvage", "-k", key, status=4, **how)
    assert PLAIN.startswith(found.out) and len(found.out) > size - 40_000
    assert found.error.startswith(f"the input is truncated after byte {size}, in part {size // 1_000_000}; {len(found.out)} ")


def test_warnings_name_one_of_several_files(key, cut):
    stream("-k", key, "-o", "whole", input=PLAIN)
    found = stream("--salvage", "--test", "-k", key, "whole", "cut", status=4)
    assert [warning.split(": ")[0] for warning in found.warnings] == ["cut"]


def test_warnings_about_standard_input_have_no_name(key, cut):
    data = pathlib.Path(cut[0]).read_bytes()
    assert stream("--salvage", "-k", key, status=4, input=data).warnings[0].startswith("the input is corrupt or truncated")
