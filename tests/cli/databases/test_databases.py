"""The recipes for databases in gpuaes-recipes(7), run as printed, against the servers that scripts/setup unpacks.

Only folders are moved into the current directory, and the name of the day of a restore is that of the test."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest

from programs import FOLDER, PATIENCE, keygen, script
from recipes import examples

TOP = pathlib.Path(__file__).parents[3]
SERVERS = TOP / "build/tools/databases/usr"
LIBRARIES = next(iter(SERVERS.glob("lib/*/libpq.so.5")), SERVERS / "lib/none").parent

pytestmark = pytest.mark.skipif(not LIBRARIES.exists(), reason="scripts/setup has not unpacked PostgreSQL and MariaDB")


@pytest.fixture(autouse=True)
def machine(work, monkeypatch):
    """Programs, and the folders and keys that the recipes name."""
    if os.geteuid() == 0:
        pytest.skip("PostgreSQL does not run as root")
    folders = [work / "bin", FOLDER, *SERVERS.glob("lib/postgresql/*/bin"), SERVERS / "bin", SERVERS / "sbin"]
    for name, value in {"PATH": ":".join(map(str, [*folders, "/usr/bin", "/bin"])), "LD_LIBRARY_PATH": str(LIBRARIES),
                        "HOME": str(work), "PGHOST": str(work), "PGDATABASE": "postgres", "PGUSER": "postgres",
                        "MYSQL_HOME": str(work)}.items():
        monkeypatch.setenv(name, value)
    os.makedirs("backup/wal")
    keygen("--x25519", "-o", "identity")
    shutil.copy("identity.pub", "backup")


def blocks(title):
    """The examples of a section. Those that are commands have no "$ "."""
    here = os.getcwd()
    moved = ("/srv", here), ("PATH=", f"PATH={os.environ['PATH']}:"), ("/usr/local/bin:", ""), ("/usr/local/bin/", f"{here}/bin/")
    return [re.sub(r"(?m)^\$ ", "", block) for block in examples(title, *moved)]


def bash(commands, status=0):
    """What the commands print."""
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=PATIENCE)
    assert done.returncode == status, f"status {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


# --- PostgreSQL


def sql(command):
    return bash(f'psql -XAtq -c "{command}"')


@pytest.fixture
def postgres(machine):
    """A server that archives its WAL as the recipe says, with a table, and the recipe."""
    make_key, archive, settings, base, restore = blocks("Archive the WAL of a PostgreSQL server")
    script("bin/archive-wal", archive)
    bash(make_key + "initdb -D data -A trust -U postgres -N")
    with open("data/postgresql.conf", "a") as file:
        file.write(f"{settings}\nlisten_addresses = ''\nunix_socket_directories = '{os.getcwd()}'\nautovacuum = off\n")
    try:
        start = "pg_ctl -D data -l log -w start >/dev/null"
        bash(start)
        sql("CREATE TABLE orders (id int)")
        yield start, base, restore
    finally:
        for folder in "data", "restored-pg":
            if os.path.exists(folder):
                subprocess.run(["pg_ctl", "-D", folder, "-m", "immediate", "stop"], stdout=subprocess.DEVNULL)


def archived():
    return sorted(name for name in os.listdir("backup/wal") if re.fullmatch(r"[0-9A-F]{24}\.sealed", name))


def archive_all():
    """Waits until all that was written is archived."""
    name = sql("SELECT pg_walfile_name(pg_switch_wal())")
    wait_until(lambda: f"{name}.sealed" in archived())
    return name


def kill_first(here):
    """The first time that it is called, gpuaes-stream is killed while it writes."""
    script("bin/gpuaes-stream", f"""\
mkdir {here}/killed 2>/dev/null || exec {FOLDER}/gpuaes-stream "$@"
for last; do :; done
exec timeout -s KILL 0.2 {FOLDER}/gpuaes-stream -q -k {here}/backup/wal.key -o "{here}/backup/wal/${{last##*/}}.sealed" /dev/zero
""")


def test_a_server_is_restored_to_a_point_in_time(postgres, work):
    """After a crash of the server and of the command that archives, with the identity alone."""
    start, base, restore = postgres
    sql("INSERT INTO orders VALUES (1)")
    bash(base)
    sql("INSERT INTO orders VALUES (2)")
    kill_first(work)
    sql("SELECT pg_switch_wal()")
    wait_until(lambda: os.path.exists("killed"))
    bash("pg_ctl -D data -m immediate stop")
    bash(start)
    archive_all()
    moment = sql("SELECT now()")
    sql("INSERT INTO orders VALUES (3)")
    archive_all()
    bash("pg_ctl -D data stop")
    os.unlink("backup/wal.key")
    os.unlink("bin/gpuaes-stream")
    bash(restore.replace("2026-11-29 12:00:00", moment))
    wait_until(lambda: sql("SELECT pg_is_in_recovery()") == "f")
    assert sql("SELECT id FROM orders").split() == ["1", "2"]


def test_what_is_archived_again(postgres, work):
    """The same is left alone; another file of the same name, or an archive that is damaged, is refused."""
    sql("INSERT INTO orders VALUES (1)")
    name = archive_all()
    sealed, wal = pathlib.Path(f"backup/wal/{name}.sealed"), pathlib.Path(f"data/pg_wal/{name}")
    before = sealed.read_bytes()
    bash(f"archive-wal {wal} {name}")
    pathlib.Path("other").write_bytes(wal.read_bytes()[:-1] + b"x")
    bash(f"archive-wal other {name}", status=1)
    bash(f"archive-wal {wal} {name[:-1]}F")
    shutil.copy(f"backup/wal/{name[:-1]}F.sealed", sealed)  # made for another name
    bash(f"archive-wal {wal} {name}", status=1)
    sealed.write_bytes(before[:-1])
    bash(f"archive-wal {wal} {name}", status=4)
    assert sealed.read_bytes() == before[:-1]


def test_a_base_backup_that_fails_replaces_none(postgres):
    _, base, _ = postgres
    bash(base)
    before = os.stat("backup/base.age")
    bash(base.replace("pg_basebackup", "pg_basebackup -p 1"), status=1)
    assert os.stat("backup/base.age") == before
    assert sorted(os.listdir("backup")) == ["base.age", "identity.pub", "wal", "wal.key"]


# --- MariaDB


@contextlib.contextmanager
def mariadb(folder):
    options = ["--no-defaults", f"--datadir={os.getcwd()}/{folder}", "--skip-networking", "--socket=" + os.path.abspath("mysql"),
               "--innodb-buffer-pool-size=16M", f"--lc-messages-dir={SERVERS}/share/mysql"]
    with open("log", "w") as log, subprocess.Popen(["mariadbd", *options], stdout=log, stderr=log) as server:
        try:
            wait_until(lambda: server.poll() is not None or subprocess.run(
                ["mariadb-admin", "ping"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0)
            assert server.poll() is None, pathlib.Path("log").read_text()
            yield
        finally:
            server.terminate()


def test_mariadb(machine):
    backup, restore, dump = blocks("Back up a MariaDB server")
    bash(f"mariadb-install-db --no-defaults --datadir=$PWD/data --basedir={SERVERS} --skip-test-db "
         "--auth-root-authentication-method=normal >/dev/null")
    pathlib.Path("my.cnf").write_text(f"[client]\nuser=root\nsocket={os.getcwd()}/mysql\n[mysqld]\ndatadir={os.getcwd()}/data\n")
    with mariadb("data"):
        bash("mariadb -e 'CREATE DATABASE shop; CREATE TABLE shop.orders (id int); INSERT INTO shop.orders VALUES (1)'")
        bash(backup)
        before = os.stat("server.age")
        bash(backup.replace("--backup", "--backup --user=none"), status=1)
        assert os.stat("server.age") == before
        bash("mariadb -e 'INSERT INTO shop.orders VALUES (2)'")
        bash(dump)
        assert bash("mariadb -N -e 'SELECT id FROM shop_restored.orders'").split() == ["1", "2"]
    bash(restore)
    with mariadb("restored-mariadb"):
        assert bash("mariadb -N -e 'SELECT id FROM shop.orders'") == "1"
