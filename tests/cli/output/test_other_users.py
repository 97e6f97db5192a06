"""-o in a directory that other users can write. Users 3001 (the victim) and 3002 share the group 3003."""

import contextlib
import glob
import os
import pathlib
import signal
import stat
import subprocess
import threading
import time

import pytest

from processes import wait_for
from programs import PATIENCE, SANITIZED, some_bytes, stream
from special_files import shell

pytestmark = pytest.mark.root

PLAIN = some_bytes(100000)
TRIES = 60 if SANITIZED else 200


@pytest.fixture
def victim(users, key):
    os.chown(key, users[0].uid, users[0].uid)
    stream("-k", key, "-o", "sealed", input=PLAIN)
    os.mkfifo("waits", 0o644)
    return users[0]


@pytest.fixture
def shared(work):
    """A directory that the group can write."""
    (work / "shared").mkdir()
    os.chown("shared", 0, 3003)
    os.chmod("shared", 0o2775)
    return work / "shared"


def decrypt(key, output, meanwhile, user, status=0):
    """Decrypts to `output`, and calls `meanwhile` once the program has opened everything and waits for input."""

    def feed():
        with open("waits", "wb") as pipe:  # after the program has opened it
            pipe.write(pathlib.Path("sealed").read_bytes()[:100])
            pipe.flush()
            wait_until_opened(output)
            meanwhile()
            pipe.write(pathlib.Path("sealed").read_bytes()[100:])

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    result = stream("-q", "-d", "-k", key, "-i", "waits", "-o", output, user=user, status=status)
    join(feeder)
    return result


def join(thread):
    thread.join(PATIENCE)
    assert not thread.is_alive(), "the program does not read its input"


def wait_until_opened(output):
    """Until the unfinished output exists: it has no name, and its directory is known."""
    folder = str(pathlib.Path(output).resolve().parent)

    def is_open():
        for link in glob.glob("/proc/[0-9]*/fd/*"):  # unlike Path.glob, ignores processes that exit meanwhile
            with contextlib.suppress(OSError):
                name = os.readlink(link)
                if name.startswith(folder) and name.endswith("(deleted)"):
                    return True
        return False

    wait_for(is_open, "the unfinished output", pause=0)


def create(user, name, mode):
    script = f"umask 0 && rm -f {name} && : >{name} && chmod {mode:o} {name}"
    subprocess.run([*user.prefix, "sh", "-c", script], check=True)


def access(name):
    status = os.stat(name)
    return status.st_uid, stat.S_IMODE(status.st_mode)


@pytest.mark.parametrize("umask, mode", [(0o022, 0o644), (0o077, 0o600)])
def test_a_target_that_another_user_creates_during_the_run_does_not_set_the_access(users, victim, shared, key, umask, mode):
    os.umask(umask)
    decrypt(key, "shared/out", lambda: create(users[1], "shared/out", 0o666), victim)
    assert access("shared/out") == (victim.uid, mode)
    assert pathlib.Path("shared/out").read_bytes() == PLAIN


@pytest.mark.parametrize("how", ["set-group-ID directory", "default ACL"])
def test_a_target_of_another_group_that_is_removed_during_the_run_stays_private(users, victim, shared, key, how):
    """The directory gives a new file a group or an ACL that the old file did not have."""
    create(victim, "shared/out", 0o640)
    os.chown("shared/out", victim.uid, victim.uid)
    if how == "default ACL":
        shell(f"setfacl -d -m u:{users[1].uid}:r shared")
    decrypt(key, "shared/out", lambda: os.unlink("shared/out"), victim)
    assert subprocess.run([*users[1].prefix, "cat", "shared/out"], capture_output=True).stdout == b""


@pytest.mark.parametrize("how", ["private file", "link"])
def test_whatever_replaces_the_target_during_the_run_is_replaced(users, victim, shared, key, how):
    create(victim, "shared/out", 0o644)

    def swap():
        create(users[1], "shared/out", 0o600)
        if how == "link":
            os.unlink("shared/out")
            os.symlink("/etc/passwd", "shared/out")

    decrypt(key, "shared/out", swap, victim)
    assert pathlib.Path("shared/out").read_bytes() == PLAIN
    assert access("shared/out") == (victim.uid, 0o644)


def test_root_does_not_give_its_output_to_a_user_who_creates_the_target(users, victim, shared, key):
    decrypt(key, "shared/out", lambda: create(users[1], "shared/out", 0o666), None)
    assert access("shared/out") == (0, 0o644)


def test_in_a_sticky_directory_a_target_of_another_user_is_not_replaced(users, victim, shared, key):
    os.chmod("shared", 0o1777)
    decrypt(key, "shared/out", lambda: create(users[1], "shared/out", 0o666), victim, status=1)
    assert access("shared/out") == (users[1].uid, 0o666)
    assert pathlib.Path("shared/out").read_bytes() == b""


def test_another_user_who_keeps_swapping_the_target_cannot_read_the_plaintext(users, victim, shared, key):
    begun = pathlib.Path("begun")  # from then on, the program has opened the victim's file

    def swap_and_read():
        if not begun.exists():
            return
        with open("shared/new", "wb"):
            os.chmod("shared/new", 0o666)
        os.rename("shared/new", "shared/out")
        for _ in range(100):
            if pathlib.Path("shared/out").read_bytes() == PLAIN:
                pathlib.Path("shared/stolen").touch()

    statuses = set()
    for _ in range(TRIES // 10):
        create(victim, "shared/own", 0o600)
        os.rename("shared/own", "shared/out")
        with users[1].repeating(swap_and_read):
            statuses.add(decrypt(key, "shared/out", begun.touch, victim, status=None).status)
        begun.unlink()
        assert not pathlib.Path("shared/stolen").exists()
        if pathlib.Path("shared/out").read_bytes() == PLAIN:
            assert access("shared/out") == (victim.uid, 0o600)
    assert 0 in statuses


def test_a_link_that_another_user_keeps_flipping_does_not_mix_the_files_of_rekey(users, victim, shared, key, batch):
    new_key = "new-key"
    stream("-k", key, "-o", "a", input=b"a")
    stream("-k", key, "-o", "b", input=b"b")
    pathlib.Path(new_key).write_bytes(bytes(range(32, 64)))
    for name in ("a", "b", new_key, "."):
        os.chown(name, victim.uid, victim.uid)

    def flip():
        for name in ("a", "b"):
            os.symlink(f"../{name}", "shared/new")
            os.rename("shared/new", "shared/link")

    statuses = set()
    with users[1].repeating(flip):
        time.sleep(0.1)
        for _ in range(TRIES):
            options = "-q", "-k", key, "-k", new_key, "--new-key", new_key
            statuses.add(stream("--rekey", *options, "shared/link", user=victim, status=None).status)
            for name in ("a", "b"):
                secrets = "-k", key, "-k", os.path.abspath(new_key)
                assert batch.stream("-q", "-d", *secrets, os.path.abspath(name)).out == name.encode()
    assert 0 in statuses


@pytest.fixture
def protected_links():
    """Makes the kernel refuse to follow links of other users in sticky directories, as distributions do."""
    setting = pathlib.Path("/proc/sys/fs/protected_symlinks")
    before = setting.read_text()
    try:
        setting.write_text("1")
    except OSError:
        pytest.skip("cannot set fs.protected_symlinks")
    yield
    setting.write_text(before)


def test_a_link_that_another_user_keeps_flipping_in_a_sticky_directory_is_not_followed(
    users, victim, shared, key, protected_links
):
    os.chmod("shared", 0o1777)
    os.mkdir("home")
    pathlib.Path("home/profile").write_text("mine")
    for name in ("home", "home/profile"):
        os.chown(name, victim.uid, victim.uid)

    def flip():
        os.symlink("../home/profile", "shared/out")
        os.unlink("shared/out")

    statuses = set()
    with users[1].repeating(flip):
        for _ in range(TRIES):
            options = "-q", "-d", "-k", key, "-i", "sealed", "-o", "shared/out"
            statuses.add(stream(*options, user=victim, status=None).status)
            assert pathlib.Path("home/profile").read_text() == "mine"
            with contextlib.suppress(FileNotFoundError):
                os.unlink("shared/out")
    assert 0 in statuses


def test_a_target_that_another_user_creates_while_the_secrets_are_read_does_not_set_the_access(users, victim, shared, key):
    """The run begins before the program reads its secrets, which may take long."""
    os.mkfifo("words", 0o644)

    def answer():
        with open("words", "wb") as pipe:
            create(users[1], "shared/out", 0o666)
            pipe.write(b"correct horse\n")

    answering = threading.Thread(target=answer, daemon=True)
    answering.start()
    stream("--passphrase-file", "words", "-i", "sealed", "-o", "shared/out", user=victim)
    join(answering)
    assert access("shared/out") == (victim.uid, 0o644)


def test_a_pipe_that_another_user_keeps_swapping_for_a_link_does_not_lead_to_another_file(users, victim, shared, key):
    """What is at the name when it is opened may not be what the program has checked."""
    mine = pathlib.Path("mine")
    mine.write_bytes(PLAIN)
    os.chown(mine, victim.uid, victim.uid)
    before = mine.stat().st_ino
    readers = []  # kept for some rounds, since opening a pipe waits for a reader

    def swap():
        os.mkfifo("shared/new")
        os.chmod("shared/new", 0o666)
        readers.append(os.open("shared/new", os.O_RDWR))
        os.rename("shared/new", "shared/out")
        os.symlink("../mine", "shared/new")
        os.rename("shared/new", "shared/out")
        if len(readers) > 20:
            os.close(readers.pop(0))

    statuses = set()
    with users[1].repeating(swap):
        for _ in range(TRIES):
            ends = 0, 1, 2, -signal.SIGPIPE  # the reader of the pipe goes away
            statuses.add(stream("-q", "-k", key, "-o", "shared/out", "mine", user=victim, status=ends).status)
            assert mine.stat().st_ino != before or mine.read_bytes() == PLAIN  # a file that is replaced is complete
            if mine.stat().st_ino != before:
                mine.unlink()
                mine.write_bytes(PLAIN)
                os.chown(mine, victim.uid, victim.uid)
                before = mine.stat().st_ino
    assert len(statuses) > 1  # the program met the pipe in some rounds, and the link in others
