"""If the command after -- fails, its output does not become a complete stream."""

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


def test_arguments_of_the_command_are_not_in_messages(key):
    """They may be secrets."""
    result = stream("-v", "-P", "-k", key, "-o", "new", "--", "sh", "-c", "exit 3", "sh", "hunter2", status=1)
    assert (result.error, result.hint) == ("the command 'sh' failed with exit status 3", "")
    assert "hunter2" not in result.err and "exit 3" not in result.err


@pytest.mark.parametrize("code, status, error", [(0, 0, ""), (3, 1, "the command 'sh' failed with exit status 3")])
def test_the_status_of_a_command_is_known_even_if_sigchld_is_ignored(key, code, status, error):
    ignoring = ["env", "--ignore-signal=CHLD"]
    assert stream("-q", "-k", key, "--", "sh", "-c", f"exit {code}", status=status, wrap=ignoring).error == error
