"""--rekey takes its new secrets from files and pipes, up to as many as a header can have."""

import os
import pathlib

from programs import expect_same, secret_file, some_bytes, stream

PLAIN = some_bytes(40000)


def pipe_with(data):
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    return reader


def test_secrets_and_input_from_pipes():
    secret_file("words", b"correct horse\n")
    sealed = stream("-q", "--passphrase-file", "words", input=PLAIN).out
    old, new = (pipe_with(words) for words in (b"correct horse\n", b"battery staple\n"))
    rekeyed = stream("--rekey", "--passphrase-file", f"/dev/fd/{old}", "--new-passphrase-file", f"/dev/fd/{new}",
                     input=sealed, pass_fds=(old, new)).out
    secret_file("new-words", b"battery staple\n")
    expect_same(PLAIN, stream("-d", "--passphrase-file", "new-words", input=rekeyed).out)


def test_the_maximum_number_of_slots(key):
    new = secret_file("new", bytes(range(1, 33)))
    pathlib.Path("sealed").write_bytes(stream("-q", "-k", key, input=PLAIN).out)
    got = stream("--rekey", "-f", "sealed", "-v", "-k", key, *["--new-key", new] * 32, "-i", "sealed")
    assert got.notes[0] == f"the key from {key} opens the input" and "now has 32 key file slots" in got.notes[1]
    expect_same(PLAIN, stream("-q", "-d", "-k", "new", "-i", "sealed").out)
