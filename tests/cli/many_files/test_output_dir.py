"""--output-dir writes an output for each input, with its name. One that fails does not stop the others."""

import json
import os
import pathlib
import resource
import shlex
import shutil
import socket
import subprocess

import pytest

from programs import FOLDER, KEY, PATIENCE, SANITIZED, content, files_here, keygen, secret_file, some_bytes, stream
from special_files import mounted_by, shell

ODD_NAMES = [b"two words", b"new\nline", b"\xff\xfe", b"-", b"-d", b"$(id)", b".hidden", b".age", b"x.age", b"\xe2\x82\xac"]
SIZES = [0, 1, 4096, 16384, 100_000, 3 << 20]


def many(*options, status=0, **popen):
    """Returns the errors and the notes of a run."""
    command = [FOLDER / "gpuaes-stream", *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, **popen)
    lines = done.stderr.decode(errors="replace").splitlines()
    assert (done.returncode, done.stdout) == (status, b""), lines
    texts = [line.split(": ", 1)[1] for line in lines]
    assert all(line.startswith("gpuaes-stream: ") for line in lines)
    return ([text.removeprefix("error: ") for text in texts if text.startswith("error: ")],
            [text for text in texts if not text.startswith(("error: ", "hint: "))])


def make_inputs():
    """Files of some sizes in folders, and their names."""
    os.makedirs("in/deep/er")
    names = [f"in/{size}" for size in SIZES] + [f"in/deep/er/{size}" for size in SIZES]
    for name in names:
        pathlib.Path(name).write_bytes(some_bytes(int(name.rpartition("/")[2])))
    return names


@pytest.mark.parametrize("make_key, ending", [("key", "sealed"), ("recipient", "age")])
def test_a_tree_there_and_back(key, make_key, ending):
    names = make_inputs()
    keygen("--x25519", "-o", "../identity")
    to, identity = (["-k", key], key) if make_key == "key" else (["-R", "../identity.pub"], "../identity")
    assert many(*to, "--output-dir", "out/", *names) == ([], ["12 files encrypted"])
    sealed = [f"out/{name}.{ending}" for name in names]
    for name, output in zip(names, sealed, strict=True):
        assert stream("-d", "-k", identity, output).out == content(name)
    os.chdir("out")
    identity = identity.replace("../", "../../")
    outputs = [output.removeprefix("out/") for output in sealed]
    assert many("-d", "-k", identity, "--output-dir", "../back", *outputs) == ([], ["12 files decrypted"])
    os.chdir("..")
    for name in names:
        assert content(f"back/{name}") == content(name)
    assert sorted(os.listdir("back/in/deep/er")) == sorted(map(str, SIZES))


def test_odd_names(key):
    """Names that are not text, or look like options."""
    for name in ODD_NAMES:
        pathlib.Path(os.fsdecode(b"./" + name)).write_bytes(name)
    inputs = [b"./" + name for name in ODD_NAMES]
    assert many("-k", key, "--output-dir", "out", *inputs) == ([], ["10 files encrypted"])
    assert sorted(os.listdir(b"out")) == sorted(name + b".sealed" for name in ODD_NAMES)
    os.chdir("out")
    assert many("-d", "-k", key, "--output-dir", "../back", *(name + b".sealed" for name in inputs))[0] == []
    for name in ODD_NAMES:
        assert content(os.fsdecode(b"../back/" + name)) == name


def test_an_input_that_is_the_output_of_an_earlier_one(key):
    pathlib.Path("a").write_bytes(b"text")
    assert many("-k", key, "--output-dir", ".", "a", "a.sealed", status=1) == (
        ["a.sealed is also the output of another input"], ["1 of 2 files encrypted, 1 failed"])


def test_a_name_that_is_too_long_with_its_ending(key):
    name = "x" * 255
    for each in name, "a":
        pathlib.Path(each).write_bytes(b"text")
    assert many("-k", key, "--output-dir", "out", name, "a", status=1) == (
        [f"cannot open out/{name}.sealed: File name too long"], ["1 of 2 files encrypted, 1 failed"])


def test_absolute_names(key, work):
    pathlib.Path("file").write_bytes(b"text")
    many("-k", key, "--output-dir", "out", f"/{work}//file")
    assert stream("-dk", key, f"out{work}/file.sealed").out == b"text"


def test_the_rest_is_done_if_some_fail(key):
    names = make_inputs()
    os.mkdir("folder")
    os.mkfifo("fifo")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind("socket")
    os.symlink("loop", "loop")
    os.symlink("in/4096", "link")
    errors, notes = many("-k", key, "--output-dir", "out", "missing", names[0], "folder", "fifo", "socket", "loop",
                         "link", "/dev/null", *names[1:], status=1)
    assert sorted(errors) == ["/dev/null is not a regular file", "cannot open loop: Too many levels of symbolic links",
                              "cannot open missing: No such file or directory",
                              "cannot open socket: No such device or address", "fifo is not a regular file",
                              "folder contains no files"]
    assert notes == ["13 of 19 files encrypted, 6 failed"]
    for name in [*names, "link"]:
        assert stream("-dk", key, f"out/{name}.sealed").out == content(name)


def test_no_folder_is_made_for_an_input_that_cannot_be_opened(key):
    names = make_inputs()
    errors, _ = many("-k", key, "--output-dir", "out", "in/deep/missing", "in/missing", names[0], status=1)
    assert len(errors) == 2 and os.listdir("out") == ["in"] and os.listdir("out/in") == ["0.sealed"]


def test_the_status_is_the_highest(key):
    other = secret_file("../other", KEY[::-1])
    for secret, name in (key, "good"), (other, "wrong"), (key, "bad"):
        stream("-k", secret, "-o", f"{name}.sealed", input=b"text")
    os.truncate("bad.sealed", 190)
    truncated = "bad.sealed: the input is truncated after byte 190; 0 bytes of plaintext before that were verified"
    missing = "cannot open missing.sealed: No such file or directory"
    wrong = "wrong.sealed: none of the given keys opens the input"
    for names, status, want in [("good", 0, []), ("wrong good", 3, [wrong]), ("missing wrong", 3, [missing, wrong]),
                                ("wrong bad good", 4, [truncated, wrong])]:
        found, _ = many("-dk", key, "--output-dir", "out", *(f"{name}.sealed" for name in names.split()), status=status)
        assert sorted(found) == want
    assert os.listdir("out") == ["good"]


def test_a_wrong_ending_is_an_error_of_that_file(key):
    stream("-k", key, "-o", "a.sealed", input=b"text")
    for name in "b", "c.sealed.old", ".sealed", "d.SEALED":
        shutil.copy("a.sealed", name)
    errors, notes = many("-dk", key, "--output-dir", "out", "b", "c.sealed.old", ".sealed", "d.SEALED", "a.sealed", status=1)
    assert sorted(errors) == [f"the name {name} does not end in .age or .sealed"
                      for name in (".sealed", "b", "c.sealed.old", "d.SEALED")]
    assert notes == ["1 of 5 files decrypted, 4 failed"] and os.listdir("out") == ["a"]


def test_sealed_parts(key):
    pathlib.Path("plain").write_bytes(some_bytes(3 << 20))
    subprocess.run([FOLDER / "gpuaes-parts", "plan", "-k", key, "-n", "2", "-o", "parts.sealed", "plain"], check=True,
                   stdout=subprocess.DEVNULL)
    for part in "01":
        subprocess.run([FOLDER / "gpuaes-parts", "seal", "parts.sealed", "--part", part], check=True)
    subprocess.run([FOLDER / "gpuaes-parts", "join", "parts.sealed"], check=True)
    stream("-k", key, "-o", "small.sealed", input=b"text")
    many("-dk", key, "--output-dir", "out", "small.sealed", "parts.sealed/")
    assert content("out/parts") == content("plain") and content("out/small") == b"text"


# --- What is at an output's name -------------------------------------------------------------------------------------


def test_an_existing_output_is_replaced_only_if_all_is_well(key):
    os.makedirs("out")
    for name in "ab":
        stream("-k", key, "-o", f"{name}.sealed", input=b"new")
        pathlib.Path(f"out/{name}").write_bytes(b"old")
    os.truncate("b.sealed", 200)
    many("-dk", key, "--output-dir", "out", "a.sealed", "b.sealed", status=4)
    assert (content("out/a"), content("out/b")) == (b"new", b"old")


@pytest.mark.parametrize("old", [None, 0o600, 0o666])
@pytest.mark.parametrize("mode, want", [(0o600, 0o600), (0o640, 0o640), (0o666, 0o644), (0o777, 0o755), (0o7755, 0o755)])
def test_an_output_has_the_mode_of_its_input_without_what_umask_takes(key, old, mode, want):
    pathlib.Path("a").write_bytes(b"text")
    os.chmod("a", mode)
    if old is not None:
        os.mkdir("out")
        pathlib.Path("out/a.sealed").write_bytes(b"old")
        os.chmod("out/a.sealed", old)
    many("-k", key, "--output-dir", "out", "a", umask=0o022)
    assert oct(os.stat("out/a.sealed").st_mode & 0o7777) == oct(want)


@pytest.mark.root
@pytest.mark.parametrize("mode", [0o444, 0o400, 0o200, 0o040])
def test_outputs_of_read_only_files_are_replaced_and_rekeyed(key, users, mode):
    """Only root could write them in place."""
    os.chmod(".", 0o777)
    pathlib.Path("a").write_bytes(b"old")
    os.chmod(key, 0o444)
    os.chown("a", users[0].uid, users[0].uid)
    os.chmod("a", mode | 0o400)
    for text in b"old", b"new":
        pathlib.Path("a").write_bytes(text)
        found = stream("-q", "-k", key, "--output-dir", "out", "--skip-existing", "a", user=users[0])
        assert stream("-dk", key, "out/a.sealed").out == text, found.err
        os.chmod("out/a.sealed", mode)
    before = os.stat("out/a.sealed").st_ino
    stream("-q", "-k", key, "--output-dir", "out", "--skip-existing", "a", user=users[0])
    is_unread = not mode & 0o400
    assert (os.stat("out/a.sealed").st_ino != before) == is_unread
    os.chmod("out/a.sealed", mode | 0o400)
    stream("-q", "--rekey", "-k", key, "--new-key", key, "out/a.sealed", user=users[0])
    assert os.stat("out/a.sealed").st_mode & 0o777 == mode | 0o400


@pytest.mark.root
def test_outputs_that_are_one_file_by_two_names_are_not_lost(key):
    """The directory has two names, so inputs with different outputs have the same one."""
    for name in "one", "two", "out/one":
        os.makedirs(name)
    names = [f"{folder}/{number}" for number in range(40) for folder in ("one", "two")]
    for name in names:
        pathlib.Path(name).write_bytes(name.encode())
    with mounted_by("mount --bind out/one", "out/two"):
        errors, notes = many("-k", key, "--output-dir", "out", *names, status=1)
    assert notes == ["40 of 80 files encrypted, 40 failed"]
    assert all("and another input have the same output" in error for error in errors)


@pytest.mark.root
def test_an_existing_output_keeps_its_owner_and_group(key):
    os.makedirs("out")
    pathlib.Path("a").write_bytes(b"text")
    pathlib.Path("out/a.sealed").write_bytes(b"old")
    os.chown("out/a.sealed", 1234, 4321)
    many("-k", key, "--output-dir", "out", "a")
    status = os.stat("out/a.sealed")
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (1234, 4321, 0o644)


def test_links_below_the_directory_are_not_followed(key):
    os.makedirs("out/in/real")
    os.makedirs("elsewhere/folder")
    pathlib.Path("elsewhere/file").write_bytes(b"mine")
    os.makedirs("in/folder")
    os.makedirs("in/real")
    for name in "in/folder/a", "in/file", "in/real/a":
        pathlib.Path(name).write_bytes(b"text")
    os.symlink("../../elsewhere/folder", "out/in/folder")
    os.symlink("../../elsewhere/file", "out/in/file.sealed")
    os.symlink("out", "to-out")
    errors, _ = many("-k", key, "--output-dir", "to-out", "in/folder/a", "in/file", "in/real/a", status=1)
    assert sorted(errors) == ["cannot open the directory to-out/in/folder: Not a directory",
                      "to-out/in/file.sealed is a symbolic link and is not replaced"]
    assert os.listdir("elsewhere/folder") == [] and content("elsewhere/file") == b"mine"
    assert os.listdir("out/in/real") == ["a.sealed"]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_only_regular_files_are_replaced(key, make):
    os.mkdir("out")
    make("out/a.sealed")
    pathlib.Path("a").write_bytes(b"text")
    errors, _ = many("-k", key, "--output-dir", "out", "a", status=1)
    assert errors == ["out/a.sealed is not a regular file and is not replaced"]


def test_the_directory_may_be_among_the_inputs(key):
    os.makedirs("in/out")
    pathlib.Path("in/a").write_bytes(b"text")
    for _ in range(2):
        many("-k", key, "--output-dir", "in/out", "in/a")
    assert stream("-dk", key, "in/out/in/a.sealed").out == b"text"
    many("-k", key, "--output-dir", "in/out", "in/a", "in/out/in/a.sealed", status=2)


# --- Arguments -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options, error", [
    ("-k KEY --output-dir out", "--output-dir requires the names of files"),
    ("-k KEY --output-dir out a -", "--output-dir cannot be used with standard input, which has no name"),
    ("-k KEY --output-dir out a ../b", "the name ../b contains .., so its output could be outside the directory"),
    ("-k KEY --output-dir out a ./a", "./a and another input have the same output, a.sealed"),
    ("-dk KEY --output-dir out a.age a.sealed", "a.sealed and another input have the same output, a"),
    ("-k KEY --output-dir . a a.sealed", "the output for a would replace a.sealed, which is another file of this run"),
    ("-k KEY --output-dir . a.sealed a", "the output for a would replace a.sealed, which is another file of this run"),
    ("-k a --output-dir out a b", "--key and the input are both read from a"),
    ("-k b --output-dir out a b", "--key and another input are both read from b"),
    ("-k KEY -o out --output-dir out a", "--output-dir cannot be used with --output"),
    ("-k KEY --range 0:1 --output-dir out a", "--output-dir cannot be used with --range"),
    ("-k KEY -d --part 0 --output-dir out a", "--output-dir cannot be used with --part"),
    ("-k KEY --salvage --output-dir out a", "--output-dir cannot be used with --salvage"),
    ("-k KEY -t --output-dir out a", "--output-dir cannot be used with --test"),
    ("--info --output-dir out a", "--output-dir cannot be used with --info"),
    ("-k KEY --output-dir out -- tar -c a", "--output-dir cannot be used with a command"),
    ("-k KEY --output-dir out --files-from list a", "--files-from cannot be used together with another input file"),
    ("-k KEY --output-dir out --files-from list -i a", "--input and --files-from cannot be used together"),
    ("-k KEY --files-from list", "--files-from requires --output-dir, --test, --info or --rekey"),
    ("-k KEY --files-from list -o out", "--files-from requires --output-dir, --test, --info or --rekey"),
    ("-k KEY --output-dir out --files-from list -- tar", "--files-from cannot be used with a command"),
    ("-k - --output-dir out --files-from -", "--key and --files-from are both read from standard input"),
    ("-k KEY --output-dir out --null a", "--null requires --files-from"),
    ("-k KEY --skip-existing a", "--skip-existing requires --output-dir"),
    ("-k KEY --trace t --output-dir out a", "--output-dir cannot be used with --trace"),
    ("-k KEY --stats b --output-dir out a b", "b and --stats are the same file"),
    ("-k KEY -f raw --output-dir out a", "--output-dir cannot be used with the raw format"),
    ("-k KEY -f cobblestone --output-dir out a", "--output-dir cannot be used with the cobblestone format"),
    ("--output-dir out a", "no key or passphrase was given"),
    ("-k missing --output-dir out a", ""),
])  # fmt: skip
def test_what_is_refused_before_anything_is_done(key, options, error):
    for name in "a", "a.sealed", "b":
        secret_file(name, KEY)
    before = files_here()
    found = stream(*options.replace("KEY", key).split(), status=2 if error else 1)
    assert found.error == error or not error
    assert files_here() == before


@pytest.mark.skipif(SANITIZED, reason="measures CPU time")
def test_many_arguments_take_little_time(key):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    names = [f"x{number}" for number in range(100_000)]
    assert stream("-k", key, "--output-dir", "out", *names, "x1", status=2).error.startswith("x1 and another input")
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 3


def test_the_directory_cannot_be_opened(key):
    pathlib.Path("a").write_bytes(b"text")
    for name, error, hint in (("a", "Not a directory", ""),
                              ("no/where", "No such file or directory", "only the last directory of a path is created")):
        found = stream("-k", key, "--output-dir", name, "a", status=1)
        assert (found.error, found.hint) == (f"--output-dir: cannot open the directory {name}: {error}", hint)


@pytest.mark.root
@pytest.mark.parametrize("options", ["--output-dir . a", "--rekey --new-key ../new a.sealed b.sealed"])
def test_hints_are_for_many_files(key, options):
    """There is no output to redirect or to name."""
    secret_file("../new", KEY[::-1])
    for name in "a", "a.sealed", "b.sealed", "over":
        stream("-k", key, "-o", name, input=b"text")
    mount = ("unshare", "-m", "sh", "-c", 'mount --bind over a.sealed && exec "$@"', "sh")
    shell(shlex.join([*mount, "true"]))
    found = stream("-k", key, *options.split(), wrap=mount, status=1)
    assert (found.error, found.hint) == ("a.sealed is a mount point and cannot be replaced", "")


# --- Messages and secrets --------------------------------------------------------------------------------------------


def test_quiet_and_notes(key):
    names = make_inputs()
    assert many("-q", "-k", key, "--output-dir", "out", *names) == ([], [])
    keygen("--x25519", "-o", "../identity")
    warning = ("warning: encrypting for both a key and a recipient; anyone with the identity could forge a file that the key "
               "opens")
    assert many("-k", key, "-R", "../identity.pub", "--output-dir", "out", *names)[1] == [warning, "12 files encrypted"]


def test_secrets_are_read_once(key):
    """A passphrase from a command, and a key from a pipe."""
    pathlib.Path("a").write_bytes(b"text")
    pathlib.Path("b").write_bytes(b"text")
    command = "echo x >>../calls; echo words"
    many("--passphrase-command", command, "--output-dir", "out", "a", "b")
    assert content("../calls") == b"x\n"
    reader, writer = os.pipe()
    os.write(writer, KEY)
    os.close(writer)
    many("-k", f"/dev/fd/{reader}", "--output-dir", "out", "a", "b", pass_fds=[reader])
    os.close(reader)
    assert stream("-dk", key, "out/b.sealed").out == b"text"


def test_statistics_are_sums(key):
    names = make_inputs()
    many("-k", key, "--stats", "stats", "--output-dir", "out", *names)
    many("-k", key, "--stats", "again", "--output-dir", "out", "--skip-existing", names[0], "missing", status=1)
    stats, again = json.loads(content("stats")), json.loads(content("again"))
    assert stats["bytes_in"] == sum(map(os.path.getsize, names)) == sum(lane["bytes"] for lane in stats["lanes"])
    assert stats["bytes_out"] == sum(os.path.getsize(f"out/{name}.sealed") for name in names)
    assert [lane["name"] for lane in stats["lanes"]] == ["cpu"] and stats["lanes"][0]["chunks"] >= len(names) - 2
    assert stats["files"] == {"done": 12, "skipped": 0, "failed": 0}
    assert again["files"] == {"done": 0, "skipped": 1, "failed": 1} and again["bytes_in"] == 0
    assert stats["commitment"] is stats["ring"] is None and stats["seconds"] > 0 and stats["cpu_seconds"] > 0


def test_no_input_is_replaced(key):
    """Whatever the directory is called, and in whatever order the inputs are named."""
    for name in "x", "x.sealed":
        pathlib.Path(name).write_bytes(name.encode())
    os.symlink(".", "link")
    for names in ["x", "x.sealed"], ["x.sealed", "x"], ["link/x.sealed", "x"]:
        stream("-k", key, "--output-dir", os.getcwd(), *names, status=2)
    pathlib.Path("list").write_text("x.sealed\nx\n")
    errors, _ = many("-k", key, "--output-dir", ".", "--files-from", "list", status=1)
    assert errors == ["the output for x would replace x.sealed, which is another file of this run"]
    assert (content("x"), content("x.sealed")) == (b"x", b"x.sealed")


@pytest.mark.root
def test_a_bind_mount_does_not_hide_that_an_output_is_an_input(key):
    os.makedirs("in")
    os.makedirs("out")
    pathlib.Path("in/x").write_bytes(b"text")
    pathlib.Path("in/x.sealed").write_bytes(b"mine")
    with mounted_by("mount --bind in", "out/in"):
        errors, _ = many("-k", key, "--output-dir", "out", "in/x.sealed", "in/x", status=2)
        assert errors == ["the output for in/x would replace in/x.sealed, which is another file of this run"]
    assert content("in/x.sealed") == b"mine"


def test_the_list_is_not_replaced(key):
    pathlib.Path("x").write_bytes(b"text")
    pathlib.Path("x.sealed").write_bytes(b"x\n")
    errors, _ = many("-k", key, "--output-dir", ".", "--files-from", "x.sealed", status=1)
    assert errors == ["the output for x would replace x.sealed, which is another file of this run"]
    assert content("x.sealed") == b"x\n"


def test_two_names_of_one_fifo_are_errors_of_their_own(key):
    pathlib.Path("x").write_bytes(b"text")
    os.mkfifo("a")
    os.link("a", "b")
    errors, notes = many("-k", key, "--output-dir", "out", "a", "b", "x", status=1)
    assert sorted(errors) == ["a is not a regular file", "b is not a regular file"]
    assert notes == ["1 of 3 files encrypted, 2 failed"]


def test_statistics_do_not_replace_an_output(key):
    pathlib.Path("x").write_bytes(b"text")
    os.mkdir("out")
    found = stream("-k", key, "--output-dir", "out", "--stats", "out/x.sealed", "x", status=1)
    assert found.error == "--stats: out/x.sealed is also an input, or the output of one"
    assert stream("-dk", key, "out/x.sealed").out == b"text"


@pytest.mark.parametrize("given", [["tree"], ["--files-from", "list"]])
def test_statistics_do_not_replace_an_input_that_was_found(key, given):
    os.mkdir("tree")
    pathlib.Path("tree/x").write_bytes(b"text")
    pathlib.Path("list").write_bytes(b"tree/x\n")
    found = stream("-k", key, "--output-dir", "out", "--stats", "tree/x", *given, status=1)
    assert found.error == "--stats: tree/x is also an input, or the output of one"
    assert pathlib.Path("tree/x").read_bytes() == b"text"
    assert stream("-dk", key, "out/tree/x.sealed").out == b"text"


def test_a_usage_error_of_one_file_is_only_that_file_s(key):
    """An error in the first file ends the run, because it most likely concerns all of them."""
    keygen("--x25519", "-o", "identity")
    for name in "a", "b", "c":
        pathlib.Path(name).write_bytes(name.encode())
    many("-k", key, "--output-dir", ".", "a", "c")
    many("-R", "identity.pub", "--output-dir", ".", "b")
    secrets = ["-d", "-k", key, "-k", "identity", "-c", "aes-256", "--output-dir", "out"]
    errors, notes = many(*secrets, "a.sealed", "b.age", "c.sealed", status=1)
    assert len(errors) == 1 and "b.age" in errors[0]
    assert notes == ["2 of 3 files decrypted, 1 failed"]
    stream(*secrets, "b.age", "a.sealed", status=2)
