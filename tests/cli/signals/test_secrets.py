"""A signal ends gpuaes-stream while it tries secrets, however many there are."""

import os
import signal
import subprocess

import pytest

import age_format as age
import sealed_format as sf
from processes import bytes_in_pipe, expect_death_by, wait_for
from programs import secret_file, start

FILE_KEY = bytes(16)
OTHER = sf.public_key(bytes(range(1, 33)))

# Headers that none of the identities opens. Trying all of them takes far longer than a signal may.
HEADERS = {
    "age": (1000, lambda: age.header(FILE_KEY, 1024 * [age.x25519_stanza(FILE_KEY, OTHER)])),
    "sealed": (8000, lambda: sf.header(2 * FILE_KEY, 32 * [sf.x25519_slot(2 * FILE_KEY, OTHER)]) + bytes(56)),
}  # fmt: skip


@pytest.mark.parametrize("kind", HEADERS)
@pytest.mark.parametrize("number, options", [(signal.SIGINT, ["-d"]), (signal.SIGTERM, ["-d", "--salvage"])])
def test_a_signal_ends_the_trying_of_secrets(kind, number, options):
    count, make = HEADERS[kind]
    text = "".join(age.identity_text(i.to_bytes(32, "big")) + "\n" for i in range(count))
    identities = secret_file("identities", text.encode())
    child = start("gpuaes-stream", *options, "-k", identities, "-o", "out", stdin=subprocess.PIPE,
                  stderr=subprocess.PIPE)  # fmt: skip
    child.stdin.write(make())
    child.stdin.flush()
    wait_for(lambda: bytes_in_pipe(child.stdin.fileno()) == 0, "it has read the header")
    expect_death_by(child, number)
    assert child.stderr.read() == b"" and not os.path.exists("out")
