#!/usr/bin/env python3
"""The include rule: the table below lists the parts that each part of the program may include, and no two parts may
include each other, directly or indirectly. Also checks that only cuda/ includes CUDA headers, that only the listed files
include Boost, and that the engine names no option of a program. Prints each violation as file:line and fails if there is
any."""

import fnmatch
import graphlib
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]

# A part is a folder in src/, a source file directly in src/, cuda, or cuda/bench. It may include its own files and the
# parts listed here. Nothing in src/ may include cuda/: lane/backends.hpp and bench/benches.hpp declare the functions that
# cuda/ defines.
MAY_INCLUDE = {
    "base": "",
    "keys": "base system",
    "cipher": "base keys",
    "io": "base",
    "process": "base io",
    "system": "base",
    "terminal": "base io process",
    "cli": "base cipher files format io lane process system terminal",
    "files": "base io keys process terminal",
    "format": "base cipher io keys",
    "lane": "base cipher system",
    "pipeline": "base format io keys lane system",
    "secrets": "base cli files format io keys lane process terminal",
    "parts": "base cli files format io keys lane run secrets terminal",
    "run": "base cipher cli files format io keys lane pipeline process secrets system terminal",
    "cuda": "base cipher keys lane system",
    "bench": "base cipher cli format io keys lane pipeline process system terminal",
    "cuda_bench": "base bench cipher cuda keys lane pipeline system",
    "main": "cli io lane run terminal",
    "keygen": "base cli files io keys process secrets terminal",
    "gpuage": "base cli io keys run terminal",
    "gpuage_keygen": "base cli files io keys secrets terminal",
}

# Headers, and the only files that may include them, separated by spaces.
RESTRICTED = {
    r"cli/program\.hpp": "src/main.cpp src/keygen.cpp src/gpuage*.cpp src/parts.cpp src/cli/* src/bench/*",
}

# The same for external headers.
OUTSIDE = {
    r"boost/": "src/process/control.cpp src/cli/command_line.cpp src/cli/program.cpp",
    r"cuda|cub/|thrust/|nv|curand|cooperative_groups|device_|driver_types|vector_types": "cuda/*",
}

# The parts of the engine; words with options are in terminal/messages.cpp. A string with something like -x or --name in it.
ENGINE = "base cipher cuda format io keys lane pipeline system".split()
OPTION = re.compile(r'^[^"]*"([^"]*[^"\w-])?--?[a-zA-Z][a-z]*[^"]*"')

INCLUDE = re.compile(r"\s*#\s*include\s*([\"<])([^\">]+)")


def part_of(path):
    if path.startswith("cuda/"):
        return "cuda_bench" if path.startswith("cuda/bench/") else "cuda"
    return path.split("/")[1].partition(".")[0]


def find(header, including):
    """The header's path in this tree; None if it is external."""
    folders = (pathlib.Path(including).parent, "src", "cuda", "")
    return next((f"{path}" for path in (pathlib.Path(folder, header) for folder in folders) if (TOP / path).is_file()), None)


def is_any(path, patterns):
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def wrong_include(path, quote, header):
    """What is wrong with an include, or None."""
    ours = find(header, path)
    if not ours and quote == '"':
        return f'not found in this tree: "{header}"'
    for pattern, files in (RESTRICTED if ours else OUTSIDE).items():
        if re.match(pattern, header) and not is_any(path, files.split()):
            return f"only {files} may include {header}"
    if not ours:
        return None
    including, included = part_of(path), part_of(ours)
    if including not in MAY_INCLUDE:
        return f"MAY_INCLUDE does not list '{including}'"
    if included not in (including, *MAY_INCLUDE[including].split()):
        return f"{including} may not include {included} ({header})"
    return None


def violations():
    try:
        graphlib.TopologicalSorter({part: others.split() for part, others in MAY_INCLUDE.items()}).prepare()
    except graphlib.CycleError as error:
        yield f"MAY_INCLUDE: these parts include each other: {' '.join(error.args[1])}"
    for file in sorted(path for folder in ("src", "cuda") for path in (TOP / folder).rglob("*") if path.is_file()):
        path, lines = str(file.relative_to(TOP)), file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            if (found := INCLUDE.match(line)) and (wrong := wrong_include(path, *found.groups())):
                yield f"{path}:{number}: {wrong}"
            if part_of(path) in ENGINE and OPTION.match(line):
                yield f"{path}:{number}: the engine names an option"


wrong = list(violations())
for violation in wrong:
    print(violation)
sys.exit(1 if wrong else 0)
