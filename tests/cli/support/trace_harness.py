"""Functions for tests of --trace: read and check a timeline in Chrome's trace event format."""

import collections
import json

from harness import *

HALF_A_NANOSECOND = 0.0005  # in microseconds, the format's unit, with three decimals


def load(path):
    """The complete events of a trace. All other events must be names."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    try:
        events = json.loads(text)["traceEvents"]
    except (ValueError, KeyError) as error:
        fail(f"{path}: expected JSON with traceEvents, got {len(text)} bytes that end with {text[-100:]!r} ({error})")
    named = {e["tid"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    complete = [e for e in events if e["ph"] == "X"]
    expect_equal(set(), {e["ph"] for e in events} - {"X", "M"}, f"{path}: other kinds of events")
    expect_equal(1, len({e["pid"] for e in events}), f"{path}: processes")
    expect_equal(set(), {e["tid"] for e in complete} - named, f"{path}: tracks without a name")
    for e in complete:
        if e["ts"] < 0 or e["dur"] < 0:
            fail(f"{path}: expected times of at least 0, got {e}")
    expect_nesting(complete, path)
    return complete


def expect_nesting(events, what):
    tracks = collections.defaultdict(list)
    for e in events:
        tracks[e["tid"]].append((e["ts"], -e["dur"], e["ts"] + e["dur"], e["name"]))
    for tid, spans in tracks.items():
        outer = []
        for begin, _, end, name in sorted(spans):
            while outer and outer[-1][0] <= begin + HALF_A_NANOSECOND:
                outer.pop()
            if outer and end > outer[-1][0] + HALF_A_NANOSECOND:
                fail(f"{what}: track {tid}: expected {name} at {begin} to end within {outer[-1]}, not at {end}")
            outer.append((end, name))


def pieces(events, name):
    """Number, offset and size of the chunk of each event with that name, in the order of the stream."""
    return sorted((e["args"]["chunk"], e["args"]["offset"], e["args"]["bytes"]) for e in events if e["name"] == name)


def expect_stream(events, size, what, phases=("read", "cipher", "write")):
    """Checks that the trace has each chunk exactly once, and that the chunks are contiguous."""
    expected = pieces(events, phases[0])
    at = 0
    for number, (chunk, offset, count) in enumerate(expected):
        expect_equal((number, at), (chunk, offset), f"{what}: number and offset of a chunk")
        at += count
    expect_equal(size, at, f"{what}: bytes of all chunks")
    for phase in phases[1:]:
        expect_equal(expected, pieces(events, phase), f"{what}: chunks of {phase}")
