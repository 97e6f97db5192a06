"""The programs of a build, the fault library, and a folder for files that runs share."""

import os
import re
import sys

PROGRAMS = ("gpuaes-stream", "gpuaes-keygen", "gpuaes-parts", "gpuage")


def full_name(program):
    """Of a program as command lines name it."""
    return program if program == "gpuage" else f"gpuaes-{program}"


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

    def expand(self, line):
        """The words of a command line, with each {name} replaced by the path of that program or file."""
        def path(found):
            return self.programs.get(full_name(found[1]), self.path(found[1]))
        return [re.sub(r"\{(\w+)\}", path, word) for word in line.split()]
