#!/usr/bin/env bash
# On a terminal -P redraws one line, which leaves the last column free, and ends it with a newline. The width is queried
# each time.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *
import re

size = 3000000
data = make_input(size)


def begin(slave, *options):
    """Starts a run that has processed 1 MiB and waits for more."""
    child = spawn("-k", key, "-P", "-b", "64K", *options, stdin=subprocess.PIPE, stderr=slave)
    child.stdin.write(data[: 1 << 20])
    child.stdin.flush()
    return child


def end(child):
    child.stdin.write(data[1 << 20 :])
    child.stdin.close()
    expect_exit(child, 0, "-P")


for columns in (0, 1, 2, 5, 8, 20, 40, 80, 200):
    master, slave = open_terminal(columns)
    child = begin(slave, "--size", str(size))
    seen = read_terminal(master, lambda seen: seen.count(b"\r") >= 3)
    end(child)
    os.close(slave)
    shown = seen + read_terminal(master)
    os.close(master)
    if not shown.endswith(b"\r\n") or shown.count(b"\n") != 1:
        fail(f"{columns} columns: expected one line that ends with a newline, got {shown!r}")
    drawn = shown[:-2].split(b"\r")
    if drawn[0] != b"" or len(drawn) < 4:
        fail(f"{columns} columns: expected a line drawn at least three times, got {drawn!r}")
    widest = max(map(len, drawn))
    if widest > (columns or 80) - 1:
        fail(f"{columns} columns: expected no line beyond column {columns - 1}, got {drawn!r}")
    last = drawn[-1].decode()
    if columns >= 20 and not re.match(r" *2\.86MiB .*100%", last):
        fail(f"{columns} columns: expected 2.86MiB and 100% in the last line, got {last!r}")
    if columns >= 20 and not re.match(rb" *(1\.00MiB|9\d\dKiB|0\.9\dMiB).* 3[0-9]%", drawn[-2]):
        fail(f"{columns} columns: expected 1 MiB and 34% in the line, got {drawn[-2]!r}")
    if columns in (0, 80, 200):
        if not re.fullmatch(r"2\.86MiB 0:00:\d\d \[[ .\d]{4}[KM]iB/s\] \[=+\]100%  cpu:\d+ *", last):
            fail(f"{columns} columns: expected all parts of the last line, got {last!r}")
        if not re.match(rb" ?[\d.]+[KM]iB 0:00:\d\d \[.{7}/s\] \[.{7}/s\] \[=+> +\] 3\d% ETA \d:\d\d:\d\d  cpu:\d+ *", drawn[-2]):
            fail(f"{columns} columns: expected all parts of the line, got {drawn[-2]!r}")

# A terminal that becomes narrower and wider again.
master, slave = open_terminal(100)
child = begin(slave, "--size", "3000000")
read_terminal(master, lambda seen: seen.count(b"\r") >= 3)
for columns in (20, 60):
    set_columns(slave, columns)
    read_terminal(master, lambda seen: b"\r" in seen)
    read_terminal(master, lambda seen: b"\r" in seen)  # the first redraw may have begun before the change
    drawn = read_terminal(master, lambda seen: b"\r" in seen).strip(b"\r")
    if not 0 < len(drawn) < columns:
        fail(f"resized to {columns} columns: expected a shorter line, got {drawn!r}")
end(child)
os.close(slave)
read_terminal(master)

# The size of a file is known, even when it is read from an offset, and --size is ignored.
with open("file", "wb") as f:
    f.write(data)
for skip in (0, 1000000):
    master, slave = open_terminal(80)
    with open("file", "rb") as f:
        f.seek(skip)
        child = spawn("-k", key, "-P", "--size", "1T", stdin=f.fileno(), stderr=slave)
        os.close(slave)
        expect_exit(child, 0, "a file")
    if not re.search(rb"\] *100% ", read_terminal(master)):
        fail("expected 100% at the end of a file")
PYTHON
