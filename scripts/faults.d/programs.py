"""The programs of a build, the fault library, and a folder for files that runs share."""

import os
import re
import sys

PROGRAMS = ("gpuaes-stream", "gpuaes-keygen", "gpuaes-parts", "gpuage")
OLD = b"what was in the file before\n" * 5000

# Faults of file systems that lack something: FUSE without O_TMPFILE; no links, as under Landlock.
NAMED = "O_TMPFILE=EOPNOTSUPP:1+"
LINKLESS = "linkat=EPERM:1+"


def full_name(program):
    """Of a program as command lines name it."""
    return program if program == "gpuage" else f"gpuaes-{program}"


def make_folder(folder, files, modes):
    """`files`: name to content; `modes`: of these, if not 0644."""
    os.mkdir(folder)
    for name, content in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, modes.get(name, 0o644))


class Programs:
    def __init__(self, folder, build):
        self.folder = folder
        self.programs = {name: os.path.abspath(f"{build}/{name}") for name in PROGRAMS}
        self.fault_library = os.path.abspath(f"{build}/tests/libfaults.so")
        for path in (*self.programs.values(), self.fault_library):
            if not os.path.exists(path):
                raise SystemExit(f"{os.path.basename(sys.argv[0])}: {path} does not exist: build first, with BUILD_TESTING on")

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name, content):
        with open(os.open(self.path(name), os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(content)
        return content

    def injecting(self, faults, record):
        """The environment in which calls fail. Without faults, they are only counted."""
        return {"LD_PRELOAD": self.fault_library, "FAULTS_RECORD": record, "FAULTS_AT": ",".join(faults)}

    def expand(self, line):
        """The words of a command line, with each {name} replaced by the path of that program or file."""
        def path(found):
            return self.programs.get(full_name(found[1]), self.path(found[1]))
        return [re.sub(r"\{(\w+)\}", path, word) for word in line.split()]
