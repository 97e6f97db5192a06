"""Plays the transcripts, one for each topic: commands, with what they must print. A line that begins with "$ " is a command
of bash. The lines after it are its output and, unless that is 0, its exit status in brackets. Other lines begin with "#" or
are empty."""

import difflib
import os
import pathlib
import subprocess

import pytest

from programs import FOLDER, HAS_BENCH, PATIENCE, Result, check


def play(command):
    """What the command prints, and its exit status. Its standard input is empty, and it has no terminal."""
    done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", start_new_session=True, umask=0o077,
                          timeout=PATIENCE, env={**os.environ, "PATH": f"{FOLDER}:{os.environ['PATH']}"})
    if command.startswith("gpuaes-"):
        check(Result(done.returncode, b"", done.stdout), command, None)
    return done.stdout + (f"[{done.returncode}]\n" if done.returncode else "")


def played(transcript):
    """The transcript, with what its commands print now."""
    for line in transcript.splitlines(keepends=True):
        if line.startswith("$ "):
            yield line + play(line[2:])
        elif line.startswith("#") or line == "\n":
            yield line


@pytest.mark.parametrize("path", sorted(pathlib.Path(__file__).parent.glob("*.txt")), ids=lambda path: path.stem)
def test_transcript(path):
    if path.stem == "bench" and not HAS_BENCH:
        pytest.skip(f"{FOLDER} has no gpuaes-bench")
    expected = path.read_text(encoding="utf-8")
    got = "".join(played(expected))
    changes = difflib.unified_diff(expected.splitlines(True), got.splitlines(True), path.name, "now")
    assert got == expected, "".join(changes)
