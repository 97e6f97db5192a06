"""Limits on the memory of programs."""

import contextlib
import pathlib
import tempfile

import pytest


class Group:
    """A control group in another one that has a limit."""

    def __init__(self):
        self.parent = pathlib.Path(tempfile.mkdtemp(prefix="gpuaes-test-", dir="/sys/fs/cgroup"))
        self.file = self.parent / "memory.max"
        self.child = self.parent / "child"
        self.child.mkdir()
        self.run_in = ["sh", "-c", f'echo $$ >{self.child}/cgroup.procs && exec "$@"', "sh"]

    def limit(self, size):
        """Limits the memory of programs that are run with the wrapper `run_in`."""
        self.file.write_text(str(size))

    def remove(self):
        self.child.rmdir()
        self.parent.rmdir()


@contextlib.contextmanager
def control_group():
    try:
        group = Group()
    except OSError as error:
        pytest.skip(f"cannot create a control group: {error}")
    try:
        if not group.file.exists():
            pytest.skip("control groups cannot limit memory here")
        yield group
    finally:
        group.remove()
