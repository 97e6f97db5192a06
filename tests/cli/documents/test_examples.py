"""The examples of README.md, --help and manual pages, and the recipes in gpuaes-recipes(7), run as they are printed.
Those for nightly backups are in test_nightly_backups.py.

Services are replaced: `ssh server` runs a command in the folder server, aws, zfs, btrfs and pg_dump copy files, pass
prints a passphrase, and sbatch runs a job. par2, GNU parallel, MPI and Dask are real."""

import glob
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys

import pytest

import age_plugin
from age_plugin import DATA
from processes import read_terminal
from programs import FOLDER, KEY, PATIENCE, content, keygen, run, script, secret_file, some_bytes, stream
from recipes import PAGE, code_with

TOP = pathlib.Path(__file__).parents[3]
SERVICES = {
    "ssh": """\
# GNU parallel relies on SHELL, which sshd sets.
case $1 in
  server) cd server && shift ;;
  *) echo "$1" >>hosts && cd / && shift && export SHELL=/bin/sh ;;
esac
[ "$1" != -- ] || shift
exec sh -c "$*"
""",
    "aws": """\
from=${3##*/} to=${4##*/}
case "$2 $3" in
  "cp -") exec cat >"$to" ;;
  cp*) [ "$4" != - ] || exec cat "$from" ;;
  mv*) exec mv "$from" "$to" ;;
esac
""",
    "zfs": "case $1 in send) exec cat disk.img ;; receive) exec cat >received ;; esac\n",
    "pass": 'case $2 in backup.key) cat "$2" ;; *) echo correct horse; echo another line ;; esac\n',
    "curl": 'exec cp ann.pub "$4"\n',
    "sbatch": """\
# Runs a job at once. One that depends on a job with a task that failed is canceled.
for word; do
  case $word in
    --array=*) tasks=$(echo "${word#*=}" | tr , '\\n' | while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done) ;;
    --dependency=afterok:1) [ ! -e failed ] || exit 0 ;;
    --wrap=*) command=${word#*=} ;;
  esac
done
rm -f failed
for SLURM_ARRAY_TASK_ID in ${tasks-0}; do
  export SLURM_ARRAY_TASK_ID
  sh -c "$command" >&2 || touch failed
done
echo 1
""",
    "python3": f'exec {sys.executable} "$@"\n',  # has python3-cryptography
}
SERVICES["btrfs"] = SERVICES["zfs"]
SERVICES.update({"pg_dump": "exec cat disk.img\n", "pg_restore": "exec cat >/dev/null\n", "createdb": "", "dropdb": ""})


@pytest.fixture(autouse=True)
def path(monkeypatch):
    """The programs are in PATH."""
    monkeypatch.setenv("PATH", f"{FOLDER}:{os.environ['PATH']}")


def need(*names):
    for name in names:
        if not shutil.which(name):
            pytest.skip(f"{name} is not installed")


def bash(commands, status=0):
    """Runs commands in a shell that ends at the first failure. MPI would read them from standard input."""
    pathlib.Path("../commands").write_text(commands)
    command = ["bash", "-euo", "pipefail", "../commands"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done


def commands_in_page(name, title):
    """The commands after "$ " in a section, with the lines that continue them."""
    need("mandoc")
    command = ["mandoc", "-T", "ascii", "-O", "width=100", TOP / "man" / name]
    page = re.sub(".\b", "", subprocess.check_output(command, text=True))
    indent = len(title) - len(title.lstrip())
    section = re.search(f"(?ms)^{title}\n(.*?)(?=^ {{0,{indent}}}[A-Z])", page)[1]
    found = re.findall(r"(?m)^ +\$ (.*\n(?:.+\n)*)", section)
    return re.sub(r"(?m)^ +\$ ", "", "".join(found))


def test_readme(work):
    need("tar")
    text = re.sub("(?s)\n## Installation.*\n## Examples", "", content(TOP / "README.md").decode())
    examples = "".join(re.findall(r"(?ms)^```sh\n(.*?)^```$", text))
    parts = "tar -x,-- tar -c,--passphrase-file,--x25519,--test,--range,--salvage,--rekey,--output-dir,gpuage"
    assert [part for part in parts.split(",") if part not in examples] == []
    done = bash(examples)
    shown = done.stderr.splitlines()
    assert shown[0].endswith("disk.sealed: 2 slots before, 1 now")
    assert [line.partition(": ")[2] for line in shown[2:]] == ["1 file encrypted", "1 file decrypted"]
    lines = done.stdout.splitlines()
    assert lines.count("photos/1.jpg") == 1 and {"intact", "100"} <= set(lines)
    assert content("salvaged.img") == content("disk.img") and content("restored/photos/1.jpg") == content("photos/1.jpg")


def run_on_terminal(commands):
    """Runs them on a terminal where the answer to every question is the same passphrase. Without complaints."""
    pathlib.Path("../commands").write_text(commands)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("bash", ["bash", "-euo", "pipefail", "../commands"])
    shown, answers = b"", 0
    while part := read_terminal(terminal, bool):
        shown += part
        # What asks is not always the last to write.
        while len(re.findall(rb"(?:passphrase(?: for \S+)?|password):", shown)) > answers:
            os.write(terminal, b"correct horse\n")
            answers += 1
    os.close(terminal)
    shown = shown.decode(errors="replace")
    assert os.waitpid(pid, 0)[1] == 0, shown
    complaints = [line for line in shown.splitlines() if re.match("gpuaes-.*(error|warning|hint): ", line)]
    assert [line for line in complaints if "not authenticated" not in line] == []


@pytest.fixture
def examples(work):
    """A function that runs examples in a folder with files."""
    os.mkdir("photos")
    for name, size in ("photos/one.jpg", 100_000), ("disk.img", 300_000), ("letter", 1_000):
        pathlib.Path(name).write_bytes(b"Dear reader,\n" * (size // 13))
    return run_on_terminal


def test_help(examples):
    text = run("gpuaes-stream", "--help").out.decode().split("\nExamples:\n")[1]
    commands = "".join(re.findall("^    (.*\n)", text, re.M))
    assert "-R identity.pub" in commands
    examples(commands)


@pytest.mark.parametrize("page, parts", [("stream.1", ["--rekey", "--range", "--trace"]), ("keygen.1", ["-y"]),
                                         ("parts.1", ["--part"]), ("formats.7", ["openssl enc", "--iv", "--context"])])
def test_examples_of_pages(examples, page, parts):
    commands = commands_in_page(f"gpuaes-{page}", "EXAMPLES")
    if page == "parts.1":
        commands += commands_in_page("gpuaes-parts.1", "DECRYPTING IN SHARES") + "cmp restored.img disk.img\n"
    assert [part for part in parts if part not in commands] == []
    examples(commands)
    if page == "stream.1":
        assert all(map(os.path.getsize, ("stats.json", "trace.json", "photos/one.jpg", "disk.img")))
    if page == "keygen.1":
        stream("--test", "-q", "-k", "backup.key", "-i", "photos.sealed")
        assert content("identity.pub") == keygen("-y", "identity").out


def install_plugins(folder):
    """Plugins of our own, with the options of the real ones that the recipe uses."""
    import sealed_format as sf

    for name in "yubikey", "tpm":
        recipient = sf.to_text(f"age1{name}", DATA)
        identity = sf.to_text(f"AGE-PLUGIN-{name.upper()}-", DATA)
        age_plugin.install(folder, name, f"""
given = sys.argv[1:]
if given == ["--generate"]:
    print("# Recipient: {recipient}", "{identity}", sep="\\n")
elif given[:2] == ["--generate", "-o"]:
    with open(os.open(given[2], os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write("{identity}\\n")
elif given in (["--list"], ["-y", "tpm"]):
    print("{recipient}")
else:
    serve()""")


@pytest.fixture
def recipe(work, monkeypatch):
    """A function that runs the commands of a section, and returns the commands and what they print."""
    need("tar", "zstd")
    pytest.importorskip("cryptography")
    services = work.parent / "services"
    for name, commands in SERVICES.items():
        script(services / name, commands)
    monkeypatch.setenv("PATH", f"{services}:{os.environ['PATH']}")
    install_plugins(services)
    os.mkdir("photos")
    pathlib.Path("photos/1.jpg").write_text("a photo\n")
    pathlib.Path("photos/2.jpg").write_bytes(some_bytes(100000))
    pathlib.Path("disk.img").write_bytes(some_bytes(300000))
    secret_file("backup.key", KEY)
    for name in "identity", "colleague":
        keygen("--x25519", "-o", name)
    photos = subprocess.run(["tar", "-c", "photos"], check=True, stdout=subprocess.PIPE).stdout
    stream("-q", "-k", "backup.key", "-o", "photos.sealed", input=photos)
    shutil.copy("photos.sealed", "photos.tar.zst.sealed")
    shutil.copy(TOP / "python/open-sealed.py", ".")
    shutil.copytree(".", work.parent / "files")
    shutil.copytree(work.parent / "files", "server")

    def run_section(title):
        commands = commands_in_page("gpuaes-recipes.7", f"   {title}")
        done = bash(commands)
        assert not re.search("^gpuaes-stream: (error|warning|hint)", done.stderr, re.M), done.stderr
        return commands, done.stdout

    return run_section


def expect_archive(key, name, *decompress):
    """The sealed file is an archive of the files that are here."""
    archive = stream("-d", "-k", key, name).out
    if decompress:
        archive = subprocess.run(decompress, input=archive, check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "-d"], input=archive, check=True)


def expect_original(name):
    assert content(name) == content(f"../files/{name}")


def expect_disk_in_parts(name):
    assert os.path.exists(f"{name}/part.0000063")
    assert stream("-q", "-d", "-k", "backup.key", name).out == content("disk.img")


@pytest.mark.parametrize("title, lists", [
    ("Split a backup into pieces", 1), ("Store a backup in S3", 1), ("Take keys and passphrases from a secret store", 0),
    ("Decrypt without gpuaes-stream", 1), ("Encrypt several archives as one file", 2),
    ("Make backups that only a YubiKey or a TPM opens", 1)])
def test_recipes_that_list_the_archive(recipe, title, lists):
    assert recipe(title)[1].splitlines().count("photos/2.jpg") == lists


def test_a_failed_upload_to_s3_does_not_replace_a_backup(recipe, work):
    script(work.parent / "services/tar", f'[ "$1" != -c ] || exit 2\nexec {shutil.which("tar")} "$@"')
    shutil.copy("photos.sealed", "photos-s3.sealed")
    bash(commands_in_page("gpuaes-recipes.7", "   Store a backup in S3"))
    assert content("photos-s3.sealed") == content("photos.sealed")


def test_back_up_a_directory(recipe):
    assert recipe("Back up a directory")[1].splitlines().count("photos/2.jpg") == 2
    expect_archive("backup.key", "photos.sealed")
    expect_archive("backup.key", "photos.tar.zst.sealed", "zstd", "-d")


def test_restore_one_file(recipe):
    """gpuaes-stream may end with SIGPIPE."""
    photo = content("photos/2.jpg")
    os.unlink("photos/2.jpg")
    bash("set +o pipefail\n" + commands_in_page("gpuaes-recipes.7", "   Restore one file from a large archive"))
    assert content("photos/2.jpg") == photo


def test_encrypt_each_file_of_a_home_directory(recipe, work, monkeypatch):
    home = work / "home"
    shutil.copytree("photos", home / "photos")
    shutil.copy("backup.key", home)
    commands = commands_in_page("gpuaes-recipes.7", "   Encrypt each file of a home directory")
    commands = commands.replace("/mnt/backup", str(work)).replace("~", "..")
    monkeypatch.setenv("HOME", str(home))
    done = bash(commands)
    assert done.stderr == "gpuaes-stream: 2 files encrypted\ngpuaes-stream: 2 files decrypted\n"
    assert content(f"restored{home}/photos/2.jpg") == content("photos/2.jpg")
    (home / "photos/3.jpg").write_bytes(b"new")
    shutil.rmtree("restored")
    done = bash(commands)
    assert done.stderr == ("gpuaes-stream: 1 of 3 files encrypted, 2 skipped\n"
                           "gpuaes-stream: 3 files decrypted\n")


def test_back_up_snapshots(recipe):
    recipe("Back up ZFS and btrfs snapshots")
    assert content("received") == content("disk.img")


def make_ssh_key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)


def test_prove_who_wrote_a_backup(recipe, work, monkeypatch):
    need("ssh-keygen")
    monkeypatch.setenv("HOME", str(work))
    os.mkdir(".ssh")
    make_ssh_key(".ssh/id_ed25519")
    commands, _ = recipe("Prove who wrote a backup")
    stream("-q", "-k", "backup.key", "disk.img", "-o", "photos.sealed")
    bash(commands.splitlines()[-1], status=255)


def test_work_with_age_files(recipe):
    """Except the commands that ask for a passphrase."""
    need("age", "age-keygen", "ssh-keygen")
    make_ssh_key("ann")
    commands = commands_in_page("gpuaes-recipes.7", "   Work with age files")
    without_questions, _, asking = commands.partition("gpuaes-stream -f age -p")
    done = bash(without_questions)
    shown = [line for line in done.stdout.split() if not line.startswith("age1")]
    assert done.stderr == "gpuaes-stream: disk.age: 1 stanza before, 2 now\n"
    assert shown == ["photos/", "photos/1.jpg", "photos/2.jpg"]
    expect_archive("ann", "photos-ann.age")
    assert "-k identity.age" in asking


def test_decrypt_with_several_processes(recipe):
    assert "photos/2.jpg\n" in recipe("Decrypt with several processes")[1]
    assert stream("-q", "-d", "-k", "backup.key", "photos.sealed").out == content("photos-shares.tar")


def test_test_backups(recipe):
    commands, shown = recipe("Test backups")
    assert shown == "photos.sealed: ok\nphotos.tar.zst.sealed: ok\n"
    os.unlink("photos/2.jpg")
    bash(commands, status=1)


def install_failing_seal(work, case):
    """A gpuaes-parts in front of the real one, for which a case of the shell decides whether it fails."""
    script(work.parent / "services/gpuaes-parts", f'case "$*" in {case} ;; esac\nexec {FOLDER}/gpuaes-parts "$@"')


@pytest.fixture
def gnu_parallel(work, monkeypatch):
    if not shutil.which("parallel") or b"GNU parallel" not in subprocess.check_output(["parallel", "--version"]):
        pytest.skip("GNU parallel is not installed")
    monkeypatch.setenv("PARALLEL_HOME", str(work.parent / "parallel"))


def test_gnu_parallel(recipe, gnu_parallel):
    recipe("Encrypt one file with GNU parallel")
    expect_disk_in_parts("disk-parallel.sealed")
    assert set(content("hosts").split()) == {b"host1", b"host2"}


def test_compare_a_large_file_with_its_input(recipe, gnu_parallel):
    """As printed, and with five pieces, which ends with the number of those that differ."""
    bash("""\
gpuaes-parts plan -k backup.key -n 2 -o disk-parallel.sealed disk.img
for i in 0 1; do gpuaes-parts seal disk-parallel.sealed --part $i; done
gpuaes-parts join disk-parallel.sealed""")
    commands, _ = recipe("Compare a large file with its input")
    fewer = commands.replace("/ 64", "/ 5")
    os.truncate("disk.img", os.path.getsize("disk.img") - 1)
    bash(fewer, status=1)
    os.unlink("disk-parallel.sealed/index")
    bash(fewer, status=5)


def test_slurm(recipe, work):
    """The task of part 7 fails. Then all lines except that with plan are run again, and seal only that part."""
    install_failing_seal(work, '*"--part 7") [ -e repaired ] || exit 1')
    plan, jobs = commands_in_page("gpuaes-recipes.7", "   Encrypt one file with Slurm").split("\n", 1)
    assert bash(plan).stdout == "64\n"
    bash(jobs)
    status = subprocess.run([FOLDER / "gpuaes-parts", "status", "--missing", "disk-slurm.sealed"], stdout=subprocess.PIPE)
    assert status.stdout == b"7\n"
    pathlib.Path("repaired").touch()
    bash(jobs)
    expect_disk_in_parts("disk-slurm.sealed")


@pytest.fixture
def mpi(monkeypatch):
    """Also as root, with more ranks than processors, and without other hosts."""
    if not shutil.which("mpirun") or b"Open MPI" not in subprocess.check_output(["mpirun", "--version"]):
        pytest.skip("Open MPI is not installed")
    for setting in ("OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_plm_rsh_agent=sh",
                    "OMPI_MCA_rmaps_base_oversubscribe=1", "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe"):
        monkeypatch.setenv(*setting.split("=", 1))


def test_mpi(recipe, mpi):
    recipe("Encrypt one file with MPI")
    expect_disk_in_parts("disk-mpi.sealed")


def test_dask(recipe, work):
    """The first attempts at parts 20 and 40 end together with their worker."""
    distributed = pytest.importorskip("distributed")
    run("gpuaes-parts", "plan", "-k", "backup.key", "-n", "64", "-o", "disk-tasks.sealed", "disk.img")
    install_failing_seal(work, f'*"--part "[24]0) mkdir "{work}/killed-$5" && kill -9 $PPID $$')
    commands = code_with("import subprocess\nfrom dask.*?").replace("/data", str(work))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster:
        commands = commands.replace("scheduler:8786", cluster.scheduler_address)
        subprocess.run([sys.executable, "-c", commands], check=True, timeout=PATIENCE)
    assert sorted(glob.glob("killed-*")) == ["killed-20", "killed-40"]
    expect_disk_in_parts("disk-tasks.sealed")


def test_read_an_encrypted_parquet_file(recipe, work):
    """As printed, with files here instead of S3."""
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("fsspec")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"fare": [1, 2], "tip": [3, 4]}), "trips.parquet")
    recipe("Read an encrypted Parquet file from Python")
    code = code_with("import fsspec").replace('"s3"', '"file"').replace("bucket", str(work))
    shutil.copy("open-sealed.py", "gpuaes_stream.py")
    code += "assert table.to_pydict() == {'fare': [1, 2]}\n"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)


def test_restore_on_a_server(recipe):
    recipe("Restore on a server, with the key at home")
    assert content("server/lent.img") == content("disk.img")
    assert not glob.glob("server/*once*")


def test_back_up_a_header(recipe):
    """The header can be restored, which repairs a file without one, but not over a file that was made again."""
    commands, _ = recipe("Back up a header")
    expect_original("photos.sealed")
    restore = commands.split("\n", 1)[1]
    pathlib.Path("photos.sealed").write_bytes(bytes(175) + content("photos.sealed")[175:])
    stream("--salvage", "-k", "backup.key", "photos.sealed", status=4)
    bash(restore)
    expect_original("photos.sealed")
    stream("-k", "backup.key", "disk.img", "-o", "photos.sealed")
    again = content("photos.sealed")
    bash(restore, status=4)
    assert content("photos.sealed") == again


def test_replace_a_key(recipe):
    commands, _ = recipe("Replace a key")
    bash(commands.splitlines()[-1])  # it can be repeated
    name = "letters/photos/2.jpg.sealed"
    assert stream("-d", "-k", "new.key", name).out == content("photos/2.jpg")
    stream("-d", "-k", "old.key", name, status=3)


def test_remove_the_key_of_someone_who_leaves(recipe):
    """The second command replaces the stanzas, and the loop also the data. It ends with 1 if a file is damaged."""
    names = [f"shared/photos/{number}.jpg.age" for number in (1, 2)]
    commands = commands_in_page("gpuaes-recipes.7", "   Remove the key of someone who leaves")
    encrypt, rekey, again = re.fullmatch(r"(?s)(.*--output-dir.*?\n)(.*?\n)(failed=.*)", commands).groups()
    bash(encrypt)
    stream("-t", "-k", "leaver", *names)
    body = content(names[1])[-1000:]
    for commands in rekey, again:
        bash(commands)
        stream("-t", "-k", "colleague", *names)
        stream("-t", "-k", "leaver", names[0], status=3)
        assert (content(names[1])[-1000:] == body) == (commands == rekey)
    pathlib.Path(names[0]).write_bytes(content(names[0])[:-1])
    bash(again, status=1)


def test_find_the_bottleneck_of_a_run(recipe):
    recipe("Find the bottleneck of a run")
    assert {"seconds", "lanes"} <= json.loads(content("stats.json")).keys() and json.loads(content("trace.json"))


def test_protect_a_backup_against_bad_sectors(recipe):
    need("par2")
    recipe("Protect a backup against bad sectors")
    expect_original("photos.sealed")
    assert stream("-d", "-k", "backup.key", "photos.sealed").out == content("photos-salvaged.tar")
    with open("photos.sealed", "rb+") as file:
        file.seek(50000)
        file.write(b"bad sector")
    subprocess.run(["par2", "repair", "-q", "photos.sealed.par2"], check=True, stdout=subprocess.DEVNULL)
    expect_original("photos.sealed")


# Commands that make keys and plans refuse to replace those that exist.
ONCE = """
set +o pipefail
once() { command "$@" 2>refused || grep -q exists refused; }
gpuaes-keygen() { once gpuaes-keygen "$@"; }
gpuaes-parts() { if [ "$1" = plan ]; then once gpuaes-parts "$@"; else command gpuaes-parts "$@"; fi; }
"""
# Files that a recipe extracts or repairs, and those of services that are replaced.
SHARED = {"photos/1.jpg", "photos/2.jpg", "photos.sealed", "received", "refused", "hosts", "failed"}


# They need servers, and have tests of their own.
SERVERS = {"Archive the WAL of a PostgreSQL server", "Back up a MariaDB server", "Deliver the weights of a model to customers",
           "Encrypt one file into many objects"}


def states_of_files():
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns) for path in pathlib.Path().rglob("*") if path.is_file()}


def test_all_recipes_run_in_order_in_one_directory_twice(recipe, work, gnu_parallel, mpi, monkeypatch):
    """As printed, except where files are. No recipe writes a file of another one."""
    need("age", "par2", "ssh-keygen")
    for name in "home", "backup", "parallel", "home/.ssh":
        (work.parent / name).mkdir()
    (work.parent / "parallel/will-cite").touch()
    monkeypatch.setenv("HOME", str(work.parent / "home"))
    shutil.copy("backup.key", work.parent / "home")
    shutil.copytree("photos", work.parent / "home/photos")
    for name in "disk.img", "trips.parquet":
        pathlib.Path(name).write_bytes(some_bytes(8_000_000))
    for path in "ann", work.parent / "home/.ssh/id_ed25519":
        make_ssh_key(path)
    titles = [title for title in re.findall(r"(?m)^\.Ss (.*)", PAGE.read_text()) if title not in SERVERS]
    writers = {}
    for title in titles * 2:
        commands = commands_in_page("gpuaes-recipes.7", f"   {title}").replace("/mnt/backup", str(work.parent / "backup"))
        before = states_of_files()
        run_on_terminal(ONCE + commands)
        for name, state in states_of_files().items():
            if name not in SHARED and before.get(name) != state:
                assert writers.setdefault(name, title) == title, name
    assert len(set(writers.values())) > len(titles) / 2
