"""Generated parts of documents, between <!-- begin: NAME --> and <!-- end: NAME -->."""

import os
import re

from inputs import BadInput
from results import Run
from tables import TABLES

PART = re.compile(r"<!-- begin: ([\w-]+) -->\n(.*?)<!-- end: \1 -->\n", re.S)


def update(folder, paths, check):
    """The exit status. With `check`, nothing is written."""
    run = Run(folder)
    status = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        new = PART.sub(lambda found: generated(run, found[1]), text)
        if text == new:
            continue
        if check:
            status = 1
            changed = [name for (name, old), (_, now) in zip(PART.findall(text), PART.findall(new)) if old != now]
            print(f"plot: {os.path.basename(path)}: these tables differ from {folder}: {', '.join(changed)}")
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)
        print(path)
    return status


def generated(run, name):
    if name not in TABLES:
        raise BadInput(f"has no table '{name}', which a document asks for")
    return f"<!-- begin: {name} -->\n{TABLES[name](run)}\n<!-- end: {name} -->\n"
