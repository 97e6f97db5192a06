"""Options that conflict, and passphrases on the command line, which are an error that does not show them."""

import pathlib

import pytest

from programs import files_here, secret_file, some_bytes, stream

EXPOSED = "a passphrase was given on the command line, where other users may have seen it"
ALONE = "choose another passphrase, and use {} alone to enter it"
OR_A_FILE = (
    "choose another passphrase, and use {} alone to enter it; if the next word was meant to be the input, "
    "that file does not exist"
)


@pytest.mark.parametrize(
    "option, hint, command_lines",
    [
        ("-p", ALONE, ["-phunter2", "-dphunter2", "-p=hunter2", "--passphrase=hunter2"]),
        ("-p", ALONE, ["-pcorrect", "-pbanana", "-pkitty", "-pfoo"]),
        ("-p", OR_A_FILE, ["-p hunter2", "-dp hunter2", "-pd hunter2", "--passphrase hunter2"]),
        ("-p", OR_A_FILE, ["-p correct horse", "-dp correct horse", "-pd correct horse", "--passphrase correct horse"]),
        ("-p", OR_A_FILE, [["-p", "two words"]]),
        ("-p", OR_A_FILE, ["-p x -o out", "-dp x -o out", "-pd x -o out", "--passphrase x -o out"]),
        ("--new-passphrase", ALONE, ["--rekey -k key --new-passphrase=hunter2"]),
        ("--new-passphrase", OR_A_FILE, ["--rekey -k key --new-passphrase hunter2"]),
    ],
)
def test_a_passphrase_on_the_command_line(option, hint, command_lines):
    for words in command_lines:
        result = stream(*(words.split() if isinstance(words, str) else words), status=2)
        assert (result.error, result.hint) == (EXPOSED, hint.format(option)), words
    assert files_here() == []


@pytest.mark.parametrize(
    "options, error, hint",
    [
        ("--passphrase-file", "option '--passphrase-file' requires a value",
         "--passphrase-file FILE: Read the passphrase from the first line of FILE"),
        ("--passphrase-file words --passphrase-file words",
         "option '--passphrase-file' cannot be specified more than once", "run with --help for a list of options"),
        ("-p --passphrase-file words", "--passphrase and --passphrase-file cannot be used together", ""),
        ("-d -p --passphrase-file words", "--passphrase and --passphrase-file cannot be used together", ""),
        ("--passphrase-command true -p -i plain", "--passphrase and --passphrase-command cannot be used together", ""),
        ("--passphrase-command true --passphrase-file words -i plain",
         "--passphrase-file and --passphrase-command cannot be used together", ""),
        ("--passphrase-command true --new-passphrase-command true -i plain",
         "--new-passphrase-command requires --rekey", ""),
    ],
)  # fmt: skip
def test_options_that_conflict(options, error, hint):
    secret_file("words", b"two words")
    pathlib.Path("plain").write_bytes(some_bytes(1000))
    result = stream("-q", *options.split(), status=2)
    assert (result.error, result.hint) == (error, hint)
