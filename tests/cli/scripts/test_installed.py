"""scripts/package.d/test-installed says what it cannot test."""

import os
import pathlib
import subprocess

import pytest

from programs import FOLDER, SANITIZED

TOP = pathlib.Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(SANITIZED, reason="other tests run the same programs")


def test_a_build_folder_with_only_the_programs_of_quickstart():
    for name in "CMakeCache.txt", "gpuaes-stream", "gpuaes-keygen", "gpuaes-parts", "gpuage", "gpuage-keygen":
        os.symlink(FOLDER / name, name)
    topics = "usage/test_help.py", "keys/test_key_files.py", "completions"
    done = subprocess.run([TOP / "scripts/package.d/test-installed", ".", *topics], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f": {os.getcwd()} has no gpuaes-bench\n" in done.stdout
