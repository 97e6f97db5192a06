"""The steps of gpuaes-parts, for tests."""

import contextlib
import os
import pathlib
import shutil
import subprocess

from processes import wait_for
from programs import FOLDER, content, flipped, parts


def part(number):
    """The name of a part in the directory `dir`."""
    return f"dir/part.{number:07}"


def write_input(name, data):
    """Writes a file that was last modified long ago. Without this, a plan waits until it can detect the next change."""
    pathlib.Path(name).write_bytes(data)
    os.utime(name, (1_000_000_000, 1_000_000_000))


def plan(key, directory, *options, input=None, count=None, **how):
    """Makes the directory of a file in parts. Returns the result of the command."""
    options = [*options, *(["-i", input] if input else []), *(["-n", str(count)] if count else [])]
    return parts("plan", "-k", key, *options, "-o", directory, **how)


def seal(directory, part, *options, **how):
    return parts("seal", directory, "--part", str(part), *options, **how)


@contextlib.contextmanager
def slow_seal(directory, part, *options, written=b"", **popen):
    """A seal that is not complete, and has written something to its attempt. Its input is a pipe, with the bytes
    `written` so far, unless it reads the planned input."""
    command = [FOLDER / "gpuaes-parts", "seal", directory, "--part", str(part), "-b", "16K", *options]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, **popen)
    try:
        process.stdin.write(written)
        process.stdin.flush()
        wait_for(lambda: process.poll() is not None or any(attempts(directory).values()), "something written", pause=0)
        assert process.poll() is None
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def attempts(directory):
    """The sizes of the incomplete files in a directory."""
    sizes = {}
    for name in os.listdir(directory):
        with contextlib.suppress(FileNotFoundError):
            if name.startswith("."):
                sizes[name] = os.stat(f"{directory}/{name}").st_size
    return sizes


def join(directory, *options, **how):
    return parts("join", directory, *options, **how)


def plan_and_seal(key, plain, count, directory, *options, file="plain"):
    """Makes a directory with all parts, which has not been joined, of the new file `file`."""
    write_input(file, plain)
    plan(key, directory, *options, input=file, count=count)
    for i in range(count):
        seal(directory, i, "-q")


def seal_in_parts(key, plain, count, name, *options):
    """Writes a sealed file made of `count` parts, in the current directory, with the steps of gpuaes-parts."""
    plan_and_seal(key, plain, count, f"{name}.parts", *options)
    join(f"{name}.parts", "-o", name)
    shutil.rmtree(f"{name}.parts")


def flip(name, at):
    """Changes one bit of the byte at this offset of a file."""
    pathlib.Path(name).write_bytes(flipped(content(name), at))
