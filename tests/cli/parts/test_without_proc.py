"""gpuaes-parts and --into without /proc and without the devices in /dev, as in a chroot or a rescue system."""

import os
import shlex

import pytest

from parts_steps import write_input
from programs import SANITIZED, content, expect_same, files_here, parts, some_bytes, stream
from special_files import hide_proc, shell

PLAIN = some_bytes(5 << 20)
WITHOUT_BOTH = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && mount -t tmpfs none /dev && exec "$@"', "sh")


@pytest.fixture(params=["/proc", "/proc and /dev"])
def wrap(request):
    if request.param == "/proc":
        return hide_proc()
    if SANITIZED:
        pytest.skip("sanitizers need /proc")
    shell(shlex.join([*WITHOUT_BOTH, "true"]))
    return WITHOUT_BOTH


@pytest.mark.parametrize("folder", [".", "folder"])
def test_all_steps(key, wrap, folder):
    os.makedirs(folder, exist_ok=True)
    write_input("../plain", PLAIN)
    parts("plan", "-k", key, "-i", "../plain", "-n", "2", "-o", f"{folder}/dir", wrap=wrap)
    for number in "01":
        parts("seal", f"{folder}/dir", "--part", number, "-q", wrap=wrap)
    parts("status", f"{folder}/dir", wrap=wrap)
    parts("join", f"{folder}/dir", "-o", f"{folder}/joined", wrap=wrap)
    for number in "01":
        stream("-d", "-k", key, "--share", f"{number}/2", "--into", f"{folder}/out", f"{folder}/joined", wrap=wrap)
    expect_same(PLAIN, content(f"{folder}/out"))
    os.chdir(folder)
    assert set(files_here()) - {"folder"} == {"dir", "joined", "out"}


def test_parts_from_pipes(key, wrap):
    parts("plan", "-k", key, "-o", "dir", wrap=wrap)
    for number in "01":
        parts("seal", "dir", "--part", number, "-q", input=PLAIN, wrap=wrap)
    parts("join", "dir", "--count", "2", wrap=wrap)
    expect_same(PLAIN * 2, stream("-d", "-k", key, "dir").out)
    stream("--rekey", "-q", "-k", key, "--new-key", key, "dir", wrap=wrap)
    expect_same(PLAIN * 2, stream("-d", "-k", key, "dir").out)
