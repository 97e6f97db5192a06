"""What the tests of --trace share: a timeline that was written, looked at as Chrome's trace event format has it."""

import collections
import json

from harness import *

HALF_A_NANOSECOND = 0.0005  # of the format's microseconds; times are sums of two numbers with three digits


def load(path):
    """The complete events of a trace, whose other ones must be names."""
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
            fail(f"{path}: expected times from 0 on, got {e}")
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
                fail(f"{what}: track {tid}: expected {name} at {begin} to end within {outer[-1]}, and not at {end}")
            outer.append((end, name))


def pieces(events, name):
    """What the events of that name say of their chunks, in the order of the stream."""
    return sorted((e["args"]["chunk"], e["args"]["offset"], e["args"]["bytes"]) for e in events if e["name"] == name)


def expect_stream(events, size, what, phases=("read", "cipher", "write")):
    """That all chunks are in it, once each, one behind the other."""
    expected = pieces(events, phases[0])
    at = 0
    for number, (chunk, offset, count) in enumerate(expected):
        expect_equal((number, at), (chunk, offset), f"{what}: number and offset of a chunk")
        at += count
    expect_equal(size, at, f"{what}: bytes of all chunks")
    for phase in phases[1:]:
        expect_equal(expected, pieces(events, phase), f"{what}: chunks of {phase}")
