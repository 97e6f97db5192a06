"""Reads the input for pictures: CSV and JSON of gpuaes-bench and scripts/bench, and traces of gpuaes-stream."""

import csv
import io
import json
import math


class BadInput(Exception):
    """What is wrong with a file, as the end of a sentence that begins with its name."""


def read(path):
    """Rows or events, as dictionaries; and whether they are events of a trace."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput("is not a text file") from None
    if text.lstrip()[:1] not in ("[", "{"):
        return read_csv(text), False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"is not complete JSON: {error}") from None
    trace = isinstance(value, dict)
    rows = value.get("traceEvents") if trace else value
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadInput("is neither an array of rows nor a trace")
    return rows, trace


def read_csv(text):
    try:
        rows = list(csv.DictReader(io.StringIO(text), strict=True))
    except csv.Error as error:
        raise BadInput(f"is not valid CSV: {error}") from None
    for line, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise BadInput(f"line {line} and the first line have different numbers of fields")
    return rows


def numbers(row, names, zero, absent):
    """None if a field that may not be `absent` is empty. Only fields in `zero` may be 0."""
    found = {}
    for name in names:
        if row[name] in ("", None):
            if name not in absent:
                return None
            found[name] = None
            continue
        try:
            found[name] = float(row[name])
        except (TypeError, ValueError, OverflowError):
            raise BadInput(f"{name} is '{row[name]}', not a number") from None
        if not (math.isfinite(found[name]) and (found[name] > 0 or found[name] == 0 and name in zero)):
            raise BadInput(f"{name} is {row[name]}, which cannot be drawn")
    return found


def points(rows, words, values, zero=(), absent=()):
    """Rows that have all of these values, as numbers, or None for those that may be absent."""
    found = []
    for row in rows:
        value = numbers(row, values, zero, absent)
        if value:
            found.append({name: str(row[name]) for name in words} | value)
    return found


def group(rows, *names):
    """Rows by their values of these names, in order of first appearance."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def spans_of_trace(events):
    """Spans as (track, what, start, length), in milliseconds."""
    tracks, spans = {}, []
    try:
        for event in events:
            if event["ph"] == "M" and event["name"] == "thread_name":
                tracks[int(event["tid"])] = str(event["args"]["name"])
            elif event["ph"] == "X":
                spans.append(span(int(event["tid"]), event["name"], event["ts"], event["dur"]))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"has an event that gpuaes-stream does not write: {error!r}") from None
    first = min((each[2] for each in spans), default=0)
    return [(tracks.get(track, f"track {track}"), what, start - first, length)
            for track, what, start, length in sorted(spans, key=lambda each: each[0])]


def spans_of_table(rows):
    """The same for the part of a trace that scripts/bench keeps."""
    try:
        return [span(row["track"], row["what"], row["start_us"], row["length_us"]) for row in rows]
    except ValueError as error:
        raise BadInput(f"has a span without a time: {error}") from None


def span(track, what, start_us, length_us):
    start, length = float(start_us) / 1e3, float(length_us) / 1e3
    if not (math.isfinite(start) and math.isfinite(length) and length >= 0):
        raise ValueError(f"from {start} ms on, for {length} ms")
    return track, str(what), start, length
