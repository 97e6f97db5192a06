#!/usr/bin/env bash
# If a signal stops gpuaes-bench, it prints the rows measured so far as a complete table and terminates with that
# signal.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
import csv
import json

from harness import *

bench = os.path.join(os.path.dirname(program), "gpuaes-bench")


def start_bench(*words):
    def signals():
        for each in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)

    child = subprocess.Popen([bench, "pipeline", *words], preexec_fn=signals, stdin=subprocess.DEVNULL,
                             stdout=open("out", "wb"), stderr=subprocess.DEVNULL)
    atexit.register(lambda: child.poll() is None and child.kill())
    return child


def stop(number, lines, *words):
    """Stops the program after that number of lines and some more bytes. Returns its output."""
    child = start_bench(*words)
    deadline = time.monotonic() + PATIENCE
    while open("out").read().count("\n") < lines or os.path.getsize("out") == 0:
        if time.monotonic() > deadline:
            fail(f"{words}: expected {lines} lines in {PATIENCE} s")
        time.sleep(0.01)
    expect_death_by(child, number, f"{words}")
    return open("out", newline="").read()


def expect_rows(rows, least):
    if not least <= len(rows) < 4000 or {len(row) for row in rows} != {13}:
        fail(f"expected whole rows, more than {least} and not all: {len(rows)}, {rows[-1]}")


# Short measurements, but too many to complete.
many = ["-l", ",".join(["none:2", "cpu:1"] * 2000), "-b", "64K", "--seconds", "0.001"]
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    expect_rows(json.loads(stop(number, 4, *many, "--json")), 3)
    expect_rows(list(csv.reader(stop(number, 4, *many, "--csv").splitlines())), 4)
    expect_rows([line.split() for line in stop(number, 4, *many).splitlines()], 4)

# A run of an hour also ends immediately, without a row.
hour = ["-l", "none:2,cpu:2", "-b", "64K", "--seconds", "3600"]
expect_equal([], json.loads(stop(signal.SIGINT, 0, *hour, "--json")), "rows of a run that was stopped")
expect_equal(1, len(stop(signal.SIGTERM, 1, *hour, "--csv").splitlines()), "lines of a run that was stopped")
PYTHON
