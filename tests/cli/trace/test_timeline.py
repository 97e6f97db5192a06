"""--trace writes a timeline in which every chunk is read, processed and written once and the spans of a track nest.
However a run ends, its trace is complete JSON and shows everything up to that point."""

import itertools
import json
import os
import pathlib
import re
import signal
import subprocess

import pytest

import processes
from programs import (
    RAW, SANITIZED, each_way, expect_same, files_here, flipped, lanes, openssl_ctr, raw, some_bytes, start_raw, stream)

HALF_A_NANOSECOND = 0.0005  # in microseconds, the format's unit, with three decimals
HOST = ("read", "cipher", "write")
DEVICE = ("read", "enqueue", "queue", "H2D", "kernel", "D2H", "device", "write")


def load(trace):
    """The complete events of a trace, as text. All other events must be names."""
    events = json.loads(trace)["traceEvents"]
    tracks = {event["tid"]: [] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    assert {event["ph"] for event in events} <= {"X", "M"} and len({event["pid"] for event in events}) == 1
    complete = [event for event in events if event["ph"] == "X"]
    for event in complete:
        assert event["ts"] >= 0 and event["dur"] >= 0
        tracks[event["tid"]].append((event["ts"], -event["dur"], event["ts"] + event["dur"]))
    for spans in tracks.values():
        ends = []
        for begin, _, end in sorted(spans):
            while ends and ends[-1] <= begin + HALF_A_NANOSECOND:
                ends.pop()
            assert not ends or end <= ends[-1] + HALF_A_NANOSECOND, "spans that do not nest"
            ends.append(end)
    return complete


def chunks(events, phase):
    """Number, offset and size of the chunk of each event of a phase, in the order of the stream."""
    found = (event["args"] for event in events if event["name"] == phase)
    return sorted((event["chunk"], event["offset"], event["bytes"]) for event in found)


def expect_stream(trace, size, phases=HOST):
    """The trace has each chunk exactly once, and the chunks are contiguous."""
    events = load(trace)
    sizes = [count for _, _, count in chunks(events, phases[0])]
    assert sum(sizes) == size
    contiguous = list(zip(itertools.count(), itertools.accumulate(sizes, initial=0), sizes))
    for phase in phases:
        assert chunks(events, phase) == contiguous, phase


def expect_written(name="trace", at_least=1):
    """The trace of a run that failed has that many written chunks, without gaps. Returns the bytes in them."""
    written = chunks(load(pathlib.Path(name).read_text()), "write")
    assert len(written) >= at_least
    assert [chunk for chunk, _, _ in written] == list(range(len(written)))
    return sum(count for _, _, count in written)


def test_every_chunk_is_read_processed_and_written_once(key, work, batch):
    sizes = (0, 1, 65535, 65536, 65537, 300000, 3000001)
    contents = {size: (some_bytes(size), openssl_ctr(some_bytes(size))) for size in sizes}
    cases = list(itertools.product(sizes, lanes(), ("64K", "4K", "1M"), ("file", "pipe")))
    for run, (size, lane, chunk, via) in each_way(batch, cases):
        plain, expected = contents[size]
        (work / "plain").write_bytes(plain)
        ends = ["-i", work / "plain", "-o", work / "out"] if via == "file" else []
        run = stream if "cuda" in lane else run
        result = run(*RAW, "-k", key, "-l", lane, "-b", chunk, "--trace", work / "trace", *ends, input=plain)
        expect_same(expected, (work / "out").read_bytes() if ends else result.out, (size, lane, chunk, via))
        expect_stream((work / "trace").read_text(), size, DEVICE if "cuda" in lane else HOST)
    assert files_here() == ["out", "plain", "trace"]


def test_errors(key):
    """A run that fails before it starts work does not touch an existing trace."""
    sealed = flipped(stream("-q", "-k", key, input=some_bytes(3000000)).out, 2000000)
    for name, content in ("sealed", sealed), ("short", sealed[:100]), ("old", b"old"):
        pathlib.Path(name).write_bytes(content)
    options = ["-q", "-k", key, "--trace"]
    error = "the input is corrupt at byte 1984575; 1982464 bytes of plaintext before that were verified"
    assert stream(*options, "pipe", "-b", "64K", "-d", input=sealed, status=4).error == error
    assert stream(*options, "file", "-b", "64K", "-d", "-i", "sealed", status=4).error == f"sealed: {error}"
    result = stream(*options, "to-file", "-b", "64K", "-d", "-i", "sealed", "-o", "out", status=4)
    assert result.error == f"sealed: {error}"
    with open("/dev/full", "wb") as full:
        result = raw(key, "-b", "64K", "--trace", "full", input=some_bytes(3000000), status=1, stdout=full)
    assert result.error == "cannot write standard output after byte 0: No space left on device"
    for name in ("pipe", "file", "to-file", "full"):
        expect_written(name)
    assert stream(*options, "old", "-f", "raw", status=2).error == "the raw format requires an IV"
    error = "short: the input is truncated after byte 100, in its header; nothing was written"
    assert stream(*options, "old", "-d", "-i", "short", status=4).error == error
    if not SANITIZED:
        limited = ("sh", "-c", 'ulimit -v 1000000 && exec "$@"', "sh")
        result = stream(*options, "old", "-b", "1G", "-l", "cpu:1", "-o", "none", status=1, wrap=limited)
        error = "a chunk of 1024 MiB requires twice as much memory, but only N MiB is available"
        assert (re.sub("only [0-9]+", "only N", result.error), result.hint) == (error, "use a smaller --chunk-size")
    assert pathlib.Path("old").read_text() == "old"
    assert files_here() == ["file", "full", "old", "pipe", "sealed", "short", "to-file"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals(key, number):
    """At work, and while the program waits for the input, its consumer, or the reader of the trace."""
    with open("out", "wb") as out:
        child = start_raw(key, "-i", "/dev/zero", "-b", "64K", "--trace", "trace", stdout=out)
    processes.wait_for(lambda: os.path.getsize("out") > 1 << 20, "some output")
    processes.expect_death_by(child, number, "at work")
    expect_written(at_least=2)

    child = start_raw(key, "-b", "4K", "--trace", "trace", stdin=subprocess.PIPE)
    processes.write_all(child.stdin.fileno(), some_bytes(40960))
    processes.wait_until_idle(child)
    processes.expect_death_by(child, number, "waiting for input")
    assert expect_written() == 40960

    child = start_raw(key, "-i", "/dev/zero", "--trace", "trace", stdout=subprocess.PIPE)
    processes.wait_until_stalled(child.stdout.fileno())
    processes.expect_death_by(child, number, "stalled consumer")
    load(pathlib.Path("trace").read_text())

    os.mkfifo("fifo")
    reader = os.open("fifo", os.O_RDWR)
    child = start_raw(key, "-i", "/dev/zero", "-b", "4K", "--trace", "fifo")
    processes.wait_until_stalled(reader)
    processes.expect_death_by(child, number, "stalled reader of the trace")
    os.close(reader)
