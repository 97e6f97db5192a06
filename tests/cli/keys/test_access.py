"""A key file that others can read causes one warning, unless -q is given, and is used anyway. Keys stay hidden from
other processes of the same user, and work if memory cannot be locked."""

import os
import pathlib
import resource
import subprocess

import pytest

from processes import wait_until_idle
from programs import IV, KEY, RAW, each_way, expect_same, openssl_ctr, raw, secret_file, some_bytes, start, stream

PLAIN = some_bytes(100000)
READABLE = "{0} is readable by other users; run chmod 600 {0}"


@pytest.fixture
def user(request, key):
    """A user without privileges who can read the key, or None if the test runs as one."""
    if os.geteuid() != 0:
        return None
    user = request.getfixturevalue("users")[0]
    os.chown(key, user.uid, -1)
    return user


def test_only_files_that_others_can_read_cause_a_warning(batch, work, key):
    sealed = stream("-k", key, "-q", input=PLAIN).out
    file = secret_file(work / "secret-key", KEY)
    modes = (0o644, 0o640, 0o604, 0o444, 0o664, 0o777, 0o600, 0o400, 0o700)
    cases = [(mode, quiet, way) for mode in modes for quiet in ([], ["-q"]) for way in ("-e", "-d")]
    for run, (mode, quiet, way) in each_way(batch, cases):
        os.chmod(file, mode)
        result = run(way, *quiet, "-k", file, input=sealed)
        warned = mode & 0o077 and not quiet
        assert result.err == (f"gpuaes-stream: warning: {READABLE.format(file)}\n" if warned else ""), oct(mode)
        assert way == "-e" or result.out == PLAIN


@pytest.mark.parametrize("options, warned", [
    ("-k secret-key -k third-key -k second-key", ["secret-key", "second-key"]),
    ("-k link", ["link"]),
    ("-k /dev/stdin -i plain", []),
    (f"-f raw --iv {IV} -k secret-key", ["secret-key"]),
])
def test_each_key_and_the_target_of_a_link_but_not_a_pipe(options, warned):
    for name in ("secret-key", "second-key", "plain"):
        pathlib.Path(name).write_bytes(KEY)
    secret_file("third-key", b"%064x\n" % 7)
    os.symlink("secret-key", "link")
    warnings = [READABLE.format(name) for name in warned]
    if "raw" in options:
        warnings.append("the raw format is not authenticated; modifications will go undetected")
    assert stream(*options.split(), input=KEY).warnings == warnings


def test_it_works_if_memory_cannot_be_locked(key, user):
    unlocked = raw(key, input=PLAIN, user=user, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0)))
    expect_same(openssl_ctr(PLAIN), unlocked.out)


def test_other_processes_of_the_same_user_cannot_inspect_it(key, user):
    def belongs_to_root(program, *options):
        child = start(program, *options, wrap=user.prefix if user else (), stdin=subprocess.PIPE)
        wait_until_idle(child)
        owner = os.stat(f"/proc/{child.pid}/environ").st_uid
        assert child.poll() is None
        return owner == 0

    if belongs_to_root("/bin/cat"):
        pytest.skip("files in /proc belong to root for all programs")
    assert belongs_to_root(user.folder / "gpuaes-stream" if user else "gpuaes-stream", *RAW, "-k", key)


@pytest.mark.root
def test_an_input_that_cannot_be_read_is_reported_as_an_input(key, users):
    """Its name ends like that of a key before it."""
    for name in "a.key", "b.key":
        secret_file(name, KEY)
    os.chown("a.key", users[0].uid, -1)
    os.chmod(".", 0o777)
    found = stream("-k", "a.key", "b.key", "-o", "out", user=users[0], status=1)
    assert found.error == "cannot open b.key: Permission denied"
