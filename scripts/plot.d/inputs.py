"""Reads the input for pictures: CSV and JSON of gpuaes-bench and scripts/bench, and traces of gpuaes-stream."""

import csv
import json
import math


class BadInput(Exception):
    """What is wrong with a file, as the end of a sentence that begins with its name."""


def read(path):
    """Rows or events, as dictionaries; and whether they are events of a trace."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            text = file.read()
        if text.lstrip()[:1] not in ("[", "{"):
            return list(csv.DictReader(text.splitlines(), strict=True)), False
        value = json.loads(text)
    except (ValueError, RecursionError, csv.Error) as error:
        raise BadInput(f"is not complete CSV or JSON: {error}") from None
    trace = isinstance(value, dict)
    rows = value.get("traceEvents") if trace else value
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadInput("is neither an array of rows nor a trace")
    return rows, trace


def number(value):
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise BadInput(f"has {str(value)[:20]!r} where a number is expected")
    return found


def points(rows, words, values):
    """Rows that have all of these values, as numbers."""
    return [{name: str(row[name]) for name in words} | {name: number(row[name]) for name in values}
            for row in rows if not any(row[name] in ("", None) for name in values)]


def group(rows, *names):
    """Rows by their values of these names, in order of first appearance."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def spans_of_trace(events):
    """Spans as (track, what, start, length), in milliseconds."""
    try:
        tracks = {event["tid"]: event["args"]["name"] for event in events
                  if event["ph"] == "M" and event["name"] == "thread_name"}
        spans = sorted((event for event in events if event["ph"] == "X"), key=lambda event: event["tid"])
        first = min((number(span["ts"]) for span in spans), default=0)
        return [(tracks[span["tid"]], span["name"], (number(span["ts"]) - first) / 1e3, number(span["dur"]) / 1e3)
                for span in spans]
    except (KeyError, TypeError):
        raise BadInput("has an event that gpuaes-stream does not write") from None
