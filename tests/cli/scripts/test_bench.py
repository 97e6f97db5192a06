"""scripts/bench keeps no result of fewer than five runs, and joins the results of calls for different parts only if they
are of the same machine and programs."""

import csv
import pathlib
import sys

import pytest

from programs import SANITIZED

sys.path.append(str(pathlib.Path(__file__).parents[3] / "scripts/bench.d"))

from contender import MIN_RUNS, Contender, take_turns  # noqa: E402
from results import Results  # noqa: E402

pytestmark = pytest.mark.skipif(SANITIZED, reason="no code of the project runs here")


class TurnsLeft:
    """A deadline after a number of turns."""

    def __init__(self, turns):
        self.turns = turns

    def left(self):
        self.turns -= 1
        return self.turns + 1


@pytest.mark.parametrize("turns, runs, enough", [(100, MIN_RUNS, True), (MIN_RUNS - 1, MIN_RUNS, False),
                                                 (MIN_RUNS, 2 * MIN_RUNS, True), (0, 1, False), (1, 1, True)])
def test_turns_until_the_deadline(turns, runs, enough):
    """A turn is complete, so all programs have the same number of runs."""
    contenders = [Contender(name, ["true"]) for name in ("a", "b")]
    assert take_turns(contenders, runs, TurnsLeft(turns)) == enough
    assert [len(each.times["wall"]) for each in contenders] == [min(turns, runs)] * 2


def test_a_row():
    contender = Contender("tool", ["/usr/bin/tool", "-K", "0123456789abcdef" * 4, "-r", "age1qqqq", "-l", "cpu", "/tmp/a b/key"])
    contender.times["wall"] = [3, 1, 2]
    contender.times["cpu"] = [1, 1, 4]
    row = contender.row()
    assert [row[name] for name in ("runs", "seconds", "min_seconds", "max_seconds", "cpu_seconds")] == \
        [3, "2.000000", "1.000000", "3.000000", "1.000000"]
    assert row["command"].startswith("tool -K HEX -r RECIPIENT -l cpu ")


def call(parts, commit="1"):
    """One call of the bench, whose case is named like its part and whose result is the number of the call."""
    results = Results("results")
    results.describe([("commit", commit), ("command", f"bench {' '.join(parts)}")])
    results.keep_other_parts(parts)
    for results.part in parts:
        tool = Contender("tool", ["tool"])
        tool.times = {"wall": [len(parts)] * MIN_RUNS, "cpu": [1], "lanes": []}
        results.compare("case", [tool], 1 << 20)
        results.add("limits", [{"value": len(parts)}])
        results.left_out("something")
    results.write()


def rows_of(name, *columns):
    with open(f"results/{name}.csv", newline="") as file:
        return [tuple(row[column] for column in columns) for row in csv.DictReader(file)]


def test_calls_for_one_folder():
    call(["pipe", "cold"])
    call(["file"])
    call(["pipe"])
    assert rows_of("programs", "part", "seconds") == [("cold", "2.000000"), ("file", "1.000000"), ("pipe", "1.000000")]
    assert rows_of("limits", "part", "value") == [("cold", "2"), ("file", "1"), ("pipe", "1")]
    assert rows_of("run", "name", "value") == [
        ("commit", "1"), ("command", "bench pipe cold"), ("left out", "cold: something"), ("command", "bench file"),
        ("left out", "file: something"), ("command", "bench pipe"), ("left out", "pipe: something")]
    with pytest.raises(SystemExit, match="another machine, program or size: commit"):
        call(["pipe"], commit="2")
    assert rows_of("run", "value")[0] == ("1",)
