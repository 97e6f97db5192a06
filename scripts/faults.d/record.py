"""The fault library's record of a process: the calls that faults could hit, and those that they did hit."""

import collections
import os
import struct

LAYOUT = struct.Struct("=56sQQ256s")  # Entry in tests/faults/record.hpp
CAPACITY = 1024

Entry = collections.namedtuple("Entry", "calls injected where")


def text_of(field):
    return field.split(b"\0", 1)[0].decode(errors="replace")


class Record:
    def __init__(self, path):
        self.path = path
        with open(path, "wb") as file:
            file.truncate(CAPACITY * LAYOUT.size)

    def environment(self, library, fault):
        """The environment for the process. `fault` is NAME:N, NAME:N+, or empty to only count calls."""
        return {"LD_PRELOAD": library, "FAULTS_RECORD": self.path, "FAULTS_AT": fault}

    def read(self):
        """Returns the entries by the fault's name, and removes the file."""
        entries = {}
        with open(self.path, "rb") as file:
            while chunk := file.read(LAYOUT.size):
                name, calls, injected, where = LAYOUT.unpack(chunk)
                if not text_of(name):
                    break
                entries[text_of(name)] = Entry(calls, injected, text_of(where))
        os.unlink(self.path)
        return entries
