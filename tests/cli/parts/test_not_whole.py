"""gpuaes-stream recognizes a part and an index, which it cannot decrypt on their own."""

import pytest

from parts_steps import join, plan_and_seal
from programs import stream

JOIN = "join the parts with gpuaes-parts, and decrypt the result"


@pytest.mark.parametrize("mode", ["-d", "--test", "--salvage"])
@pytest.mark.parametrize("name, error", [
    ("dir/part.0000000", "the input is a part or an index, not a whole file"),
    ("joined/index", "the input is a part or an index, not a whole file")])
def test_members(key, mode, name, error):
    for directory in "dir", "joined":
        plan_and_seal(key, b"text", 1, directory)
    join("joined")
    found = stream(mode, "-k", key, name, status=4)
    assert (found.error, found.hint) == (f"{name}: {error}", JOIN)
