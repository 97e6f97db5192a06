"""What is in a file that is to be drawn."""

import csv
import io
import json
import math


class BadInput(Exception):
    """What a user is told about a file."""


def read(path):
    """The events of a trace, or the rows of a table: dictionaries both. And whether it is a trace."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput("is no text") from None
    if text.lstrip()[:1] not in ("[", "{"):
        return read_csv(text), False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"is no whole JSON: {error}") from None
    trace = isinstance(value, dict)
    rows = value.get("traceEvents") if trace else value
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadInput("is neither an array of rows nor a trace")
    return rows, trace


def read_csv(text):
    try:
        rows = list(csv.DictReader(io.StringIO(text), strict=True))
    except csv.Error as error:
        raise BadInput(f"is no CSV: {error}") from None
    for line, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise BadInput(f"line {line} has not as many fields as the first one")
    return rows


def numbers(row, names, zero, absent):
    """Nothing where a field is empty, unless it may be `absent`: then the row has no such point. Only those of `zero`
    may be 0."""
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
            raise BadInput(f"{name} is '{row[name]}', and no number") from None
        if not (math.isfinite(found[name]) and (found[name] > 0 or found[name] == 0 and name in zero)):
            raise BadInput(f"{name} is {row[name]}, which is nothing to draw")
    return found


def points(rows, words, values, zero=(), absent=()):
    """The rows that have all of these values, with them as numbers, or None for those that may be absent."""
    found = []
    for row in rows:
        value = numbers(row, values, zero, absent)
        if value:
            found.append({name: str(row[name]) for name in words} | value)
    return found


def group(rows, *names):
    """Rows by what they have under these names, in the order in which these come first."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def read_spans(events):
    """(track, what, start, length), times in milliseconds from the first one on; and the names of the tracks."""
    tracks, spans = {}, []
    try:
        for event in events:
            if event["ph"] == "M" and event["name"] == "thread_name":
                tracks[int(event["tid"])] = str(event["args"]["name"])
            elif event["ph"] == "X":
                start, length = float(event["ts"]) / 1e3, float(event["dur"]) / 1e3
                if not (math.isfinite(start) and math.isfinite(length) and length >= 0):
                    raise ValueError(f"from {start} ms on, for {length} ms")
                spans.append((int(event["tid"]), str(event["name"]), start, length))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"has an event that is none of gpuaes-stream's: {error!r}") from None
    start = min((span[2] for span in spans), default=0)
    return [(track, name, at - start, length) for track, name, at, length in spans], tracks
