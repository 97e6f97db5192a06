"""What may be on a disk after a power cut, given the changes that a command made.

The model follows ALICE (Pillai and others, OSDI 2014) and assumes only this: until fsync() of a file, changes of its data
reach the disk in any order or in part, and its size may reach the disk before its data. Until fsync() of a directory,
changes of its names reach the disk in any order, but each as a whole. The same holds for modes. Real file systems
guarantee more: ext4, XFS and Btrfs reorder fewer changes, and some write the data of a file before its new name.
"""

import itertools
import os
import random
import stat
import typing

ALL_SUBSETS = 5  # up to this many pending changes of names and modes; beyond that, a sample
RANDOM_SUBSETS = 12
VARIANTS = ("all", "none", "zeros")  # how much of the data that was not synced is on the disk

FILE, DIRECTORY = "file", "directory"


class Change(typing.NamedTuple):
    """One change that a call made. kind: data, size, mode, link, unlink, rename or sync."""
    kind: str
    inode: int  # the file, or the directory whose entries change
    begin: float  # of the call
    end: float
    values: tuple = ()

    def is_data(self):
        return self.kind in ("data", "size")


class Disk:
    """The files in a folder: inodes, and which names they have. The root is inode 0."""

    def __init__(self):
        self.modes, self.names, self.data = {0: 0o755}, {0: {}}, {}
        self.first_modes = dict(self.modes)

    @classmethod
    def of_folder(cls, folder):
        disk = cls()
        disk.scan(folder, 0)
        return disk

    def scan(self, folder, inode):
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            mode = stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode)
            if entry.is_dir(follow_symlinks=False):
                child = self.make(DIRECTORY, mode)
                self.scan(entry.path, child)
            else:
                child = self.make(FILE, mode)
                with open(entry.path, "rb") as file:
                    self.data[child] = file.read()
            self.names[inode][entry.name] = child

    def make(self, kind, mode):
        inode = len(self.modes)
        self.modes[inode] = self.first_modes[inode] = mode
        if kind == DIRECTORY:
            self.names[inode] = {}
        else:
            self.data[inode] = b""
        return inode

    def copy(self):
        copy = Disk()
        copy.modes, copy.first_modes, copy.data = dict(self.modes), dict(self.first_modes), dict(self.data)
        copy.names = {inode: dict(names) for inode, names in self.names.items()}
        return copy

    def tree(self, inode=0, path=""):
        """(path, inode) of all that can be reached from the root."""
        for name, child in sorted(self.names[inode].items()):
            yield path + name, child
            if child in self.names:
                yield from self.tree(child, f"{path}{name}/")

    def apply(self, change):
        kind, inode, values = change.kind, change.inode, change.values
        if change.is_data():
            self.data[inode] = changed(self.data[inode], change)
        elif kind == "mode":
            self.modes[inode] = values[0]
        elif kind == "link":
            name, child = values
            self.names[inode][name] = child
        elif kind == "unlink":
            name, child = values
            if self.names[inode].get(name) == child:
                del self.names[inode][name]
        elif kind == "rename":
            old_directory, old_name, name, child = values
            if self.names[old_directory].get(old_name) == child:
                del self.names[old_directory][old_name]
            self.names[inode][name] = child

    def key(self):
        return tuple((path, self.modes[inode], self.data.get(inode)) for path, inode in self.tree())

    def write_to(self, folder):
        for path, inode in self.tree():
            target = os.path.join(folder, path)
            if inode in self.names:
                os.mkdir(target)
            else:
                with open(target, "wb") as file:
                    file.write(self.data[inode])
            os.chmod(target, self.modes[inode])


class Recorder:
    """Turns the calls that the programs use into changes. Keeps the disk as it is for running programs, to know which file
    a call means."""

    def __init__(self, disk, folder):
        self.disk, self.folder = disk, folder
        self.files = {}  # descriptor: [inode, offset]; duplicates share the list
        self.changes = []

    def change(self, call, kind, inode, *values):
        change = Change(kind, inode, call.begin, call.end, values)
        self.changes.append(change)
        self.disk.apply(change)

    def find(self, directory, path):
        """The directory and the name that a path means, and the inode, each None if not below the root."""
        if path.startswith("/proc/self/fd/"):
            return None, None, self.files.get(int(path[14:]), [None])[0]
        if path.startswith("/"):
            if not path.startswith(self.folder + "/"):
                return None, None, None
            path, inode = path[len(self.folder) + 1:], 0
        else:
            inode = 0 if directory == "AT_FDCWD" else self.files.get(int(directory), [None])[0]
        parent, name = None, None
        for part in [part for part in path.split("/") if part not in ("", ".")]:
            if part == "..":
                inode = next((parent for parent, names in self.disk.names.items() if inode in names.values()), None)
                continue
            if inode not in self.disk.names:
                return None, None, None
            parent, name, inode = inode, part, self.disk.names[inode].get(part)
        return parent, name, inode

    def take(self, call):
        handler = getattr(self, call.name, None)
        if handler:
            handler(call)

    def openat(self, call):
        directory, _, flags, *mode = call.words()
        parent, name, inode = self.find(directory, call.path())
        self.files.pop(call.result, None)
        if "O_TMPFILE" in flags and inode is not None:
            inode = self.disk.make(FILE, int(mode[0], 8) & ~0o022)
        elif inode is None and parent is not None:
            inode = self.disk.make(FILE, int(mode[0], 8) & ~0o022)
            self.change(call, "link", parent, name, inode)
        if inode is not None:
            self.files[call.result] = [inode, 0]
            if "O_TRUNC" in flags:
                self.change(call, "size", inode, 0)

    def close(self, call):
        self.files.pop(call.number(0), None)

    def fcntl(self, call):
        if "F_DUPFD" in call.arguments and call.number(0) in self.files:
            self.files[call.result] = self.files[call.number(0)]

    def lseek(self, call):
        if call.number(0) in self.files:
            self.files[call.number(0)][1] = call.result

    def read(self, call):
        if call.number(0) in self.files:
            self.files[call.number(0)][1] += call.result

    def write(self, call):
        file = self.files.get(call.number(0))
        if file and file[0] in self.disk.data:
            self.change(call, "data", file[0], file[1], b"".join(call.strings())[:call.result])
            file[1] += call.result

    def ftruncate(self, call):
        if call.number(0) in self.files:
            self.change(call, "size", self.files[call.number(0)][0], call.number(1))

    def linkat(self, call):
        words = call.words()
        _, _, inode = self.find(words[0], call.path(0))
        parent, name, _ = self.find(words[2], call.path(1))
        if inode is not None and parent is not None:
            self.change(call, "link", parent, name, inode)

    def renameat(self, call):
        words = call.words()
        old_parent, old_name, inode = self.find(words[0], call.path(0))
        parent, name, _ = self.find(words[2], call.path(1))
        if inode is not None and parent is not None:
            self.change(call, "rename", parent, old_parent, old_name, name, inode)

    renameat2 = renameat

    def unlinkat(self, call):
        parent, name, inode = self.find(call.words()[0], call.path())
        if parent is not None:
            self.change(call, "unlink", parent, name, inode)

    def mkdirat(self, call):
        parent, name, _ = self.find(call.words()[0], call.path())
        if parent is not None:
            self.change(call, "link", parent, name, self.disk.make(DIRECTORY, int(call.words()[-1], 8) & ~0o022))

    def fchmod(self, call):
        if call.number(0) in self.files:
            self.change(call, "mode", self.files[call.number(0)][0], int(call.words()[1], 8))

    def chmod(self, call):
        _, _, inode = self.find("AT_FDCWD", call.path())
        if inode is not None:
            self.change(call, "mode", inode, int(call.words()[1], 8))

    def fsync(self, call):
        if call.number(0) in self.files:
            self.change(call, "sync", self.files[call.number(0)][0])


class PowerCuts:
    """The states of a disk while a command runs. `before`: the disk when it began; `after`: when it had ended."""

    def __init__(self, before, after):
        self.before, self.after = before, after
        self.contents = {}  # of files, by what is known of them, since most states share them

    def states(self, changes, first):
        """What may be on the disk if the power fails after the first changes or at any later moment: disks, each once, with their keys. A key ends with
        whether the command had ended."""
        seen = set()
        for count in range(first, len(changes) + 1):
            issued, ended = changes[:count], count == len(changes)
            pending = [not is_synced(change, issued[at + 1:]) for at, change in enumerate(issued)]
            for kept, variants in choices(issued, pending):
                disk = self.state(issued, pending, kept, variants)
                key = (disk.key(), ended)
                if key not in seen:
                    seen.add(key)
                    yield disk, key

    def state(self, issued, pending, kept, variants):
        disk = self.before.copy()
        for inode in range(len(disk.modes), len(self.after.modes)):
            disk.make(FILE if inode in self.after.data else DIRECTORY, self.after.first_modes[inode])
        for at, change in enumerate(issued):
            if not change.is_data() and (not pending[at] or at in kept):
                disk.apply(change)
        for inode in {change.inode for change in issued if change.is_data()}:
            written = [(change, is_pending) for change, is_pending in zip(issued, pending)
                       if change.inode == inode and change.is_data()]
            key = (inode, tuple(is_pending for _, is_pending in written), variants.get(inode, "all"))
            if key not in self.contents:
                self.contents[key] = content(disk.data[inode], written, key[-1])
            disk.data[inode] = self.contents[key]
        return disk


def is_synced(change, later):
    """Whether one of the later changes is a call of fsync() that began when this one was complete."""
    return any(sync.kind == "sync" and sync.inode == change.inode and sync.begin >= change.end for sync in later)


def choices(issued, pending):
    """Which changes of names and modes reach the disk, and how much of each file's data does."""
    loose = [at for at, change in enumerate(issued) if pending[at] and not change.is_data() and change.kind != "sync"]
    written = sorted({change.inode for change, is_pending in zip(issued, pending) if is_pending and change.is_data()})
    variants = [dict.fromkeys(written, variant) for variant in VARIANTS]
    if len(written) > 1:
        variants += [{**dict.fromkeys(written, "all"), inode: variant}
                     for inode in written for variant in VARIANTS[1:]]
    return itertools.product(subsets(loose), variants if written else [{}])


def subsets(items):
    if len(items) <= ALL_SUBSETS:
        return [set(chosen) for size in range(len(items) + 1) for chosen in itertools.combinations(items, size)]
    chance = random.Random(len(items))
    prefixes = [set(items[:count]) for count in range(len(items) + 1)]
    single = [{item} for item in items] + [set(items) - {item} for item in items]
    return prefixes + single + [set(chance.sample(items, chance.randrange(len(items)))) for _ in range(RANDOM_SUBSETS)]


def content(data, written, variant):
    """The content of a file. written: (change of its data, whether it was not synced)."""
    synced = whole = data
    for change, is_pending in written:
        whole = changed(whole, change)
        if not is_pending:
            synced = changed(synced, change)
    zeros = synced[:len(whole)].ljust(len(whole), b"\0")
    return {"all": whole, "none": synced, "zeros": zeros}[variant]


def changed(data, change):
    """The content of a file after a change of its data or size."""
    if change.kind == "size":
        return data[:change.values[0]].ljust(change.values[0], b"\0")
    offset, new = change.values
    return data[:offset].ljust(offset, b"\0") + new + data[offset + len(new):]
