"""Which program is run: age-plugin-NAME in an absolute directory of PATH, and never anything else."""

import os
import pathlib

import pytest

import age_plugin
from age_plugin import DATA, recorded
from programs import script, secret_file, some_bytes, stream
from sealed_format import to_text

PLAIN = some_bytes(1000)
RECORD = "record(sys.argv)\nserve()"
NOT_INSTALLED = "age-plugin-{} is not installed"
IN_PATH = ("for a list of plugins, see https://age-encryption.org/awesome#plugins; PATH must contain the absolute path of its "
           "directory")
CHARACTERS = "a plugin name may contain only letters, digits and the characters - _ . +"
NAMES = ["../x", "/bin/x", "x/../../y", "a b", "a\tb", "a=b", "a~", "$HOME", "a;b", "*", "\\", ""]


def identity_of(name, data=DATA):
    return secret_file("named", (to_text(f"AGE-PLUGIN-{name.upper()}-", data) + "\n").encode())


@pytest.mark.parametrize("name", [name for name in NAMES if not name.count(" ") and not name.count("\t")])
def test_other_characters_in_the_name(folder, name):
    if "/" not in name:
        age_plugin.install(folder, name, RECORD)
    age_plugin.install(".", "x", RECORD)
    for options in ["-d", "-k", identity_of(name)], ["-e", "-k", identity_of(name)]:
        result = stream(*options, input=PLAIN, status=2)
        assert result.error == f"--key: line 1 of named is not a valid identity of an age plugin: {CHARACTERS}"
    text = to_text(f"age1{name.lower()}", DATA)
    result = stream("-r", text, input=PLAIN, status=2)
    assert name == "" or result.error == f"-r {text} is not a valid recipient of an age plugin: {CHARACTERS}"
    assert recorded() == []


@pytest.mark.parametrize("name", [*NAMES, "test\n", "a\xe9b", "a\x01b"])
@pytest.mark.parametrize("options", [[], ["-d"]])
def test_other_characters_in_the_option(folder, name, options):
    age_plugin.install(folder, "test", RECORD)
    assert stream(*options, "-j", name, input=PLAIN, status=2).error == f"--plugin: {CHARACTERS}"
    assert recorded() == []


@pytest.mark.parametrize("name", ["a", "a-b", "a_b.c+d", "0", "-", "..", "..-", "x" * 40])
def test_all_characters_that_a_name_may_have(folder, name):
    age_plugin.install(folder, name, RECORD)
    made = stream("-r", to_text(f"age1{name}", DATA), input=PLAIN).out
    assert stream("-d", "-k", identity_of(name), input=made).out == PLAIN
    assert [os.path.basename(words[0]) for words in recorded()] == [f"age-plugin-{name}"] * 2


def test_names_in_errors(folder):
    """They are not taken for identities, which are never shown."""
    for name in "1p", "x-1", "1-1abc":
        result = stream("-j", name, input=b"", status=1)
        assert result.error == f"age-plugin-{name} is not installed"


def test_names_are_lowercase(folder):
    age_plugin.install(folder, "TEST", RECORD)
    result = stream("-j", "TEST", input=PLAIN, status=1)
    assert (result.error, result.hint, recorded()) == (NOT_INSTALLED.format("test"), IN_PATH, [])


def test_arguments(folder, plugin):
    program = plugin(RECORD)
    stream("-d", "-j", "test", input=stream("-j", "test", input=PLAIN).out)
    assert recorded() == [[str(program), f"--age-plugin={machine}"] for machine in ("recipient-v1", "identity-v1")]


@pytest.mark.parametrize("path", ["", ".", ":", "here", ".:./here:here", "../here:", "{bin}/../nothing:.", None])
def test_the_current_directory_is_not_searched(work, folder, monkeypatch, path):
    pathlib.Path("here").mkdir()
    for place in ".", "here":
        age_plugin.install(place, code=RECORD)
    if path is None:
        monkeypatch.delenv("PATH")
    else:
        monkeypatch.setenv("PATH", path.format(bin=folder))
    for options in ["-j", "test"], ["-d", "-j", "test"]:
        text = b"" if options == ["-j", "test"] else AN_AGE_FILE
        result = stream(*options, input=text, status=1)
        assert (result.error, result.hint) == (NOT_INSTALLED.format("test"), IN_PATH)
    assert recorded() == []


AN_AGE_FILE = b"age-encryption.org/v1\n-> test\n\n--- " + b"A" * 43 + b"\n" + b"n" * 32


@pytest.mark.parametrize("what", ["directory", "not executable", "link to nothing", "fifo"])
def test_only_executable_files_are_programs(work, folder, monkeypatch, what):
    name = folder / "age-plugin-test"
    if what == "directory":
        name.mkdir()
    elif what == "not executable":
        age_plugin.install(folder, code=RECORD, mode=0o644)
    elif what == "link to nothing":
        name.symlink_to("nothing")
    else:
        os.mkfifo(name, 0o700)
    assert stream("-j", "test", input=PLAIN, status=1).error == NOT_INSTALLED.format("test")
    (work.parent / "second").mkdir()
    age_plugin.install(work.parent / "second", code=RECORD)
    monkeypatch.setenv("PATH", f"{folder}::.:{work.parent}/second")
    stream("-j", "test", input=PLAIN)
    assert len(recorded()) == 1


def test_a_link_to_a_program(work, folder):
    target = age_plugin.install(work.parent, code=RECORD)
    (folder / "age-plugin-test").symlink_to(target)
    stream("-j", "test", input=PLAIN)
    assert len(recorded()) == 1


def test_a_file_that_cannot_be_run(folder):
    script(folder / "age-plugin-test", "#!/nonexistent/interpreter\n")
    error = stream("-j", "test", input=PLAIN, status=1).error
    assert error == "cannot run age-plugin-test: No such file or directory"


def test_the_input_starts_no_plugin(folder, key):
    """Only -k, -r, -R and -j do."""
    for name in "test", "x25519", "scrypt", "p256tag", "tag":
        age_plugin.install(folder, name, RECORD)
    pathlib.Path("file").write_bytes(AN_AGE_FILE)
    for options in ["--info"], ["-d", "-k", key], ["-d", "--passphrase-file", key], ["-d"]:
        stream(*options, "file", status=None, start_new_session=True)
    assert stream("--info", "-j", "test", "file", status=2).error == "--info cannot be used with --plugin"
    assert recorded() == []


def test_incomplete_texts(folder, plugin):
    plugin(RECORD)
    checksum = "its checksum is wrong; check for typing errors"
    good = to_text("AGE-PLUGIN-TEST-", DATA)
    for text, problem in (
        (good[:-1], checksum), (good[:-1] + ("Q" if good[-1] != "Q" else "P"), checksum),
        (good[:20], "it is not complete"), ("AGE-PLUGIN-TEST-", "it is not complete"),
        (good.replace("TEST-", "TEST"), CHARACTERS), (good[:-3] + "b" + good[-2:], "it contains an invalid character"),
    ):
        secret_file("bad", f"{text}\n".encode())
        result = stream("-d", "-k", "bad", input=PLAIN, status=2)
        assert result.error == f"--key: line 1 of bad is not a valid identity of an age plugin: {problem}", text
    text = to_text("age1test", DATA)
    for bad, problem in (text[:-1], checksum), (text[:12], "it is not complete"):
        result = stream("-r", bad, input=PLAIN, status=2)
        assert result.error == f"-r {bad} is not a valid recipient of an age plugin: {problem}"
    assert recorded() == []
