"""Generated parts of documents, between <!-- begin: NAME --> and <!-- end: NAME -->."""

import os
import re

import tables
from inputs import BadInput
from results import Run

PART = re.compile(r"<!-- begin: ([\w-]+) -->\n(.*?)<!-- end: \1 -->\n", re.S)


def update(folder, paths, check):
    """The exit status. With `check` nothing is written."""
    run = Run(folder)
    status = 0
    for path in paths:
        if not os.path.exists(path):
            raise BadInput(f"belongs to {os.path.basename(path)}, which is missing")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        new = PART.sub(lambda found: generated(run, found.group(1), path), text)
        if text == new:
            continue
        if check:
            status = 1
            print(f"plot: {os.path.basename(path)}: these parts are not those of {folder}: {', '.join(changed(text, new))}")
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)
        print(path)
    return status


def generated(run, name, path):
    if name not in tables.TABLES:
        raise BadInput(f"has no table '{name}', which {os.path.basename(path)} asks for")
    return f"<!-- begin: {name} -->\n{tables.TABLES[name](run)}\n<!-- end: {name} -->\n"


def changed(text, new):
    return [name for (name, old), (_, now) in zip(PART.findall(text), PART.findall(new)) if old != now]
