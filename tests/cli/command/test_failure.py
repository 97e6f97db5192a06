"""If the command after -- fails, its output does not become a complete stream. Some options exclude a command."""

import os
import pathlib

import pytest

from programs import RAW, files_here, some_bytes, stream

PLAIN = some_bytes(300_000)
HINT = "what follows -- is a command whose output is encrypted"
TWO = "the command 'sh' failed with exit status 2"
KILLED = "the command 'sh' was killed by signal 9 (Killed)"


@pytest.fixture(autouse=True)
def files(work):
    pathlib.Path("plain").write_bytes(PLAIN)
    pathlib.Path("old").write_bytes(b"old")
    yield
    assert files_here() == ["old", "plain"]
    assert pathlib.Path("old").read_bytes() == b"old"


@pytest.mark.parametrize("command, error", [
    (["false"], "the command 'false' failed with exit status 1"),
    (["sh", "-c", "exit 2"], TWO),
    (["sh", "-c", "kill -9 $$"], KILLED),
    (["sh", "-c", "head -c 32768 plain; exit 2"], TWO),
    (["sh", "-c", "head -c 32768 plain; kill -9 $$"], KILLED),
    (["sh", "-c", "cat plain; exit 2"], TWO),
    (["sh", "-c", "cat plain; kill -9 $$"], KILLED),
    (["sh", "-c", "cat plain; exec >&-; sleep 0.1; exit 255"], "the command 'sh' failed with exit status 255"),
])
def test_output_of_a_failed_command(key, batch, command, error):
    for form in (["-f", "sealed"], ["-f", "cobblestone"], RAW):
        for output in (["-o", "new"], ["-o", "old"], []):
            result = stream("-q", "-k", key, *form, *output, "--", *command, status=1)
            assert (result.error, result.hint) == (error, "")
        if form is not RAW:
            batch.stream("-q", "-k", key, "--test", *form, input=result.out, status=4)
            assert PLAIN.startswith(batch.stream("-q", "-k", key, "-d", *form, input=result.out, status=4).out)


@pytest.fixture
def imitate(tmp_path_factory, monkeypatch):
    """Makes commands with these names, which print a few bytes and exit with the status in the variable STATUS."""
    folder = tmp_path_factory.mktemp("commands")

    def make(*names):
        for name in names:
            (folder / name).write_text("#!/bin/sh\necho data\nexit $STATUS\n")
            (folder / name).chmod(0o755)
        return folder

    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return make


CHANGED = ("status 1 of GNU tar means that a file changed while it was read; to accept that, use "
           "-- sh -c 'tar ... || test $? -eq 1'")


@pytest.mark.parametrize("command, status, hint", [
    ("tar -c .", 1, CHANGED),
    ("gtar -c .", 1, CHANGED),
    ("FOLDER/tar -c .", 1, CHANGED),
    ("env A=b tar -c .", 1, CHANGED),
    ("nice -n 5 FOLDER/tar -c .", 1, CHANGED),
    ("ssh server tar -c .", 1, ""),  # which may have failed itself
    ("tar -c .", 2, ""),
    ("bsdtar -c .", 1, ""),
    ("false tar", 1, ""),
])
def test_the_hint_for_a_file_that_changed_while_tar_read_it(key, imitate, monkeypatch, command, status, hint):
    folder = imitate("tar", "gtar", "ssh", "bsdtar")
    monkeypatch.setenv("STATUS", str(status))
    result = stream("-k", key, "-o", "new", "--", *command.replace("FOLDER", str(folder)).split(), status=1)
    assert result.error.endswith(f"failed with exit status {status}")
    assert result.hint == hint


@pytest.mark.parametrize("tar_status, status", [(0, 0), (1, 0), (2, 1)])
def test_the_way_to_accept_a_file_that_changed(key, imitate, monkeypatch, tar_status, status):
    imitate("tar")
    monkeypatch.setenv("STATUS", str(tar_status))
    stream("-k", key, "-o", "new", "--", "sh", "-c", "tar ... || test $? -eq 1", status=status)
    if status == 0:
        assert stream("-d", "-k", key, "new").out == b"data\n"
        os.unlink("new")


def test_arguments_of_the_command_are_not_in_messages(key):
    """They may be secrets."""
    result = stream("-v", "-P", "-k", key, "-o", "new", "--", "sh", "-c", "exit 3", "sh", "hunter2", status=1)
    assert (result.error, result.hint) == ("the command 'sh' failed with exit status 3", "")
    assert "hunter2" not in result.err and "exit 3" not in result.err


@pytest.mark.parametrize("code, status, error", [(0, 0, ""), (3, 1, "the command 'sh' failed with exit status 3")])
def test_the_status_of_a_command_is_known_even_if_sigchld_is_ignored(key, code, status, error):
    ignoring = ["env", "--ignore-signal=CHLD"]
    assert stream("-q", "-k", key, "--", "sh", "-c", f"exit {code}", status=status, wrap=ignoring).error == error


@pytest.mark.parametrize("options, status, error, hint", [
    # A command that cannot be run.
    ("-- nosuchcommand", 1, "cannot run the command 'nosuchcommand': No such file or directory", ""),
    ("-- ./nosuchcommand", 1, "cannot run the command './nosuchcommand': No such file or directory", ""),
    ("-- ", 1, "cannot run the command '': No such file or directory", ""),
    ("-o new -- /", 1, "cannot run the command '/': Permission denied", ""),
    # The command is run only if the output can be written.
    ("-o missing/new -- touch started", 1,
     "--output: cannot create a temporary file next to missing/new: No such file or directory", ""),
    ("-f raw -- touch started", 2, "the raw format requires an IV",
     "give a new IV in hexadecimal; never use an IV twice with the same key"),
    # Options that cannot be used with a command.
    ("--", 2, "no command follows --", HINT),
    ("plain -- true", 2, "an input file cannot be used with a command", HINT),
    ("--decrypt -- touch started", 2, "--decrypt cannot be used with a command", HINT),
    ("--test -- touch started", 2, "--test cannot be used with a command", HINT),
    ("--range 0:1 -- touch started", 2, "--range cannot be used with a command", HINT),
    ("--salvage -- touch started", 2, "--salvage cannot be used with a command", HINT),
    ("--info -- touch started", 2, "--info cannot be used with a command", HINT),
    ("--rekey -- touch started", 2, "--rekey cannot be used with a command", HINT),
    ("--input plain -- touch started", 2, "--input cannot be used with a command", HINT),
    ("-o -- touch started", 2, "option '--output' requires a value",
     "--output FILE: Write to FILE instead of standard output (-)"),
])
def test_commands_that_are_not_run(key, options, status, error, hint):
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}  # without folders that a user cannot read
    result = stream("-q", "-k", key, *options.split(" "), status=status, env=environment)
    assert (result.error, result.hint, result.out) == (error, hint, b"")
