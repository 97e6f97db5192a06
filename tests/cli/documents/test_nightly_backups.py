"""The scripts, crontab entry and units for nightly backups in gpuaes-recipes(7), run as printed and as cron runs them.

Only folders are moved into the current directory, and some programs are replaced: `ssh HOST` runs a command in the
folder HOST, tar can fail at its end, and the tests choose the date."""

import os
import pathlib
import re
import shutil
import socket
import subprocess

import pytest

from programs import FOLDER, KEY, PATIENCE, script, secret_file, some_bytes, stream
from recipes import examples

DAY = "2026-11-27"
SERVICES = {
    # If the connection for the command $LOST is lost, the command sees the end of its input.
    "ssh": """\
[ "$1 $2" = "-o ServerAliveInterval=60" ] && cd "HERE/$3" && shift 3 || exit 255
case $* in
    "${LOST:-none} "*) ;;
    *) exec sh -c "$*" ;;
esac
head -c 50000 | sh -c "$*" | head -c 50000
echo "Timeout, server not responding." >&2
exit 255
""",
    "scp": '[ -s "$1" ] && [ "$2" = server:HERE/root/ ]\n',
    "tar": 'REAL "$@" && exit ${FAIL:-0}\n',
    "date": 'exec REAL -d $DAY "$@"\n',
    "gpuaes-stream": """\
case "$*" in
    *--test*) [ ! "$DAMAGE" ] || printf damage | dd of="$DAMAGE" bs=1 seek=5000 conv=notrunc status=none ;;
esac
exec REAL "$@"
""",
}


@pytest.fixture(autouse=True)
def machine(work):
    """Folders with what the recipes name: /home, /root, /srv/backup, /usr/local/sbin, and those of other hosts."""
    if b"GNU tar" not in subprocess.run(["tar", "--version"], capture_output=True).stdout:
        pytest.skip("GNU tar is not installed")
    for name in "services", "home/ann", "root", "backup", "sbin", "server", "offsite":
        os.makedirs(name)
    for name, commands in SERVICES.items():
        real = FOLDER / name if (FOLDER / name).exists() else shutil.which(name)
        script(f"services/{name}", commands.replace("REAL", str(real)).replace("HERE", str(work)))
    for name in "letters", "photos":
        pathlib.Path(f"home/ann/{name}").write_bytes(some_bytes(300_000))
    secret_file("root/backup.key", KEY)


def blocks(title):
    """The examples of a section, moved into the current directory."""
    here = os.getcwd()
    return examples(title, ("-C / ", f"-C {here} "), ("/root", f"{here}/root"), ("/srv/backup", f"{here}/backup"),
                    ("/usr/local/sbin", f"{here}/sbin"), ("\nPATH=", f"\nPATH={here}/services:"))


def block_with(title, start):
    return next(block for block in blocks(title) if block.startswith(start))


def run(command, ok=True, **variables):
    """Runs a command as cron does. It must print something if it fails, and only then."""
    env = {**os.environ, "PATH": "/usr/bin:/bin", "DAY": DAY, **variables}
    done = subprocess.run(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=env, timeout=PATIENCE)
    assert (done.returncode == 0) == ok == (done.stdout == ""), f"status {done.returncode}: {done.stdout}"
    return done.stdout


def make_generations(folder, suffix):
    """16 backups of October."""
    names = [f"home-2026-10-{day:02}.{suffix}" for day in range(1, 17)]
    for name in names:
        pathlib.Path(folder, name).write_text("an old backup\n")
    return names


def expect_archive(*options):
    archive = stream("-d", *options).out
    listed = subprocess.run(["tar", "-t"], input=archive, check=True, stdout=subprocess.PIPE).stdout.decode().split()
    assert {"home/ann/letters", "home/ann/photos"} <= set(listed)


def local():
    script("sbin/backup-home", block_with("Back up a directory every night", "#!"))


def pull():
    text = block_with("Back up a directory every night", "#!")
    [command] = blocks("Pull backups from a server")
    assert len(command.split("\n")) == 4 and "-- \\\n" in command
    text, count = re.subn(r"(?m)^gpuaes-stream .*\\\n.*\n", lambda _: command, text, count=1)
    assert count == 1
    script("sbin/backup-home", text)


def push():
    make_identity = block_with("Push backups to a host that cannot read them", "# ").replace("# ", "")
    run(f"({make_identity}) >recipient", PATH=f"{os.getcwd()}/services:{FOLDER}:{os.environ['PATH']}")
    script("sbin/backup-home", block_with("Push backups to a host that cannot read them", "#!"))


# How backups are made: the folder, suffix and key.
WAYS = {local: ("backup", "sealed", "root/backup.key"), pull: ("backup", "sealed", "root/backup.key"),
        push: ("offsite", "age", "root/identity")}


def nightly(ok=True, **variables):
    """Runs the command of the crontab entry."""
    entry = block_with("Back up a directory every night", "15 2 * * * ")
    return run(entry.removeprefix("15 2 * * * "), ok, **variables)


@pytest.mark.parametrize("way", WAYS)
def test_a_directory_may_change_while_it_is_backed_up(way):
    """A file grows and others are removed at each checkpoint of tar, and there is a socket."""
    way()
    folder, suffix, key = WAYS[way]
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("home/ann/socket")
        for number in range(20):
            pathlib.Path(f"home/ann/gone-{number}").write_text("removed soon\n")
        here = os.getcwd()
        script("change", f"cd {here}/home/ann && rm -f gone-* && echo >>photos")
        changes = {"TAR_OPTIONS": f"--checkpoint=10 --checkpoint-action=exec={here}/change"}
        shown = run(f"tar -c -C {here} home >/dev/null", ok=False, **changes)
        assert "file changed as we read it" in shown and "socket ignored" in shown
        nightly(**changes)
    expect_archive("-k", key, f"{folder}/home-{DAY}.{suffix}")
    assert os.listdir(folder) == [f"home-{DAY}.{suffix}"]


@pytest.mark.parametrize("way, variables", [(local, {"FAIL": "2"}), (pull, {"FAIL": "2"}), (pull, {"LOST": "tar"}),
                                            (push, {"FAIL": "2"}), (push, {"LOST": "cat"})])
def test_an_incomplete_backup_gets_no_name(way, variables):
    """tar fails at its end, or the connection for a command is lost. Backups of today and of earlier days stay."""
    way()
    folder, suffix, _ = WAYS[way]
    nightly()
    today = f"home-{DAY}.{suffix}"
    complete = pathlib.Path(folder, today).read_bytes()
    names = make_generations(folder, suffix)
    nightly(ok=False, **variables)
    left = sorted(name for name in os.listdir(folder) if not name.startswith("incoming."))
    assert left == [*names, today] and pathlib.Path(folder, today).read_bytes() == complete


@pytest.mark.parametrize("way", [local, pull])
def test_a_backup_that_does_not_verify_gets_no_name(way):
    way()
    names = make_generations("backup", "sealed")
    nightly(ok=False, DAMAGE="home.new")
    assert sorted(os.listdir("backup")) == [*names, "home.new"]
    nightly()
    assert sorted(os.listdir("backup")) == [*names[3:], f"home-{DAY}.sealed"]


@pytest.mark.parametrize("way", [local, pull])
def test_the_newest_14_backups_are_kept(way):
    way()
    names = make_generations("backup", "sealed")
    pathlib.Path("backup/home-of-ann.sealed").write_text("not a nightly backup\n")
    nightly()
    nightly(DAY="2026-11-28")
    nightly(DAY="2026-11-28")
    kept = [*names[4:], f"home-{DAY}.sealed", "home-2026-11-28.sealed"]
    assert sorted(os.listdir("backup")) == [*kept, "home-of-ann.sealed"]


@pytest.fixture
def check():
    """A function that runs the script that verifies and prunes pushed backups. There are 17, with that of today."""
    _, text = [block for block in blocks("Push backups to a host that cannot read them") if block.startswith("#!")]
    script("sbin/check-home", text)
    push()
    names = make_generations("offsite", "age")
    nightly()
    pathlib.Path("offsite/incoming.1").write_text("an incomplete upload\n")

    def run_check(ok=True, **variables):
        run(f"{os.getcwd()}/sbin/check-home", ok, **variables)
        expected = [*names[3:], f"home-{DAY}.age"] if ok else [*names, f"home-{DAY}.age", "incoming.1"]
        assert sorted(os.listdir("offsite")) == expected

    return run_check


def test_pushed_backups_are_deleted_if_the_newest_verifies(check):
    check()


@pytest.mark.parametrize("size, variables", [(0, {}), (200_000, {}), (None, {"DAY": "2026-11-28"}), (None, {"LOST": "cat"})],
                         ids=["empty", "cut off", "missing", "connection lost"])
def test_otherwise_no_pushed_backup_is_deleted(check, size, variables):
    if size is not None:
        os.truncate(f"offsite/home-{DAY}.age", size)
    check(ok=False, **variables)


def test_systemd_units(machine):
    """They are valid, and the service uses the key that systemd decrypts."""
    local()
    title = "Back up a directory every night"
    service, timer = block_with(title, "[Service]"), block_with(title, "[Timer]")
    pathlib.Path("backup-home.service").write_text(service)
    pathlib.Path("backup-home.timer").write_text(timer)
    os.mkdir("credentials")
    os.rename("root/backup.key", "credentials/backup.key")
    command = re.search("(?m)^ExecStart=(.*)$", service)[1]
    run(command, CREDENTIALS_DIRECTORY=f"{os.getcwd()}/credentials")
    expect_archive("-k", "credentials/backup.key", f"backup/home-{DAY}.sealed")
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    verify = ["systemd-analyze", "verify", "./backup-home.service", "./backup-home.timer"]
    done = subprocess.run(verify, capture_output=True, text=True)
    assert "backup-home" not in done.stderr
