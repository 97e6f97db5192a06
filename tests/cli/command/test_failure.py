"""If the command after -- fails, its output does not become a complete stream."""

import os
import pathlib

import pytest

from programs import RAW, files_here, some_bytes, stream

PLAIN = some_bytes(300_000)
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
    (["sh", "-c", "head -c 32768 plain; exit 2"], TWO),
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


CHANGED = ("status 1 of GNU tar means that a file changed while it was read; to accept that, use "
           "-- sh -c 'tar ... || test $? -eq 1'")


@pytest.mark.parametrize("command, status, hint", [
    ("tar -c .", 1, CHANGED),
    ("nice -n 5 FOLDER/tar -c .", 1, CHANGED),
    ("ssh server tar -c .", 1, ""),  # which may have failed itself
    ("tar -c .", 2, ""),
    ("false tar", 1, ""),
    ("nice -n 5 false", 1, ""),
])
def test_the_hint_for_a_file_that_changed_while_tar_read_it(key, tmp_path, monkeypatch, command, status, hint):
    for name in "tar", "ssh":
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {status}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    result = stream("-k", key, "-o", "new", "--", *command.replace("FOLDER", str(tmp_path)).split(), status=1)
    assert result.error.endswith(f"failed with exit status {status}")
    assert result.hint == hint


def test_arguments_of_the_command_are_not_in_messages(key):
    """They may be secrets."""
    result = stream("-v", "-P", "-k", key, "-o", "new", "--", "sh", "-c", "exit 3", "sh", "hunter2", status=1)
    assert (result.error, result.hint) == ("the command 'sh' failed with exit status 3", "")
    assert "hunter2" not in result.err and "exit 3" not in result.err


@pytest.mark.parametrize("code, status, error", [(0, 0, ""), (3, 1, "the command 'sh' failed with exit status 3")])
def test_the_status_of_a_command_is_known_even_if_sigchld_is_ignored(key, code, status, error):
    ignoring = ["env", "--ignore-signal=CHLD"]
    assert stream("-q", "-k", key, "--", "sh", "-c", f"exit {code}", status=status, wrap=ignoring).error == error
