"""What a plugin inherits: no descriptor of a secret or of ours, but all others, and the environment."""

import os
import pathlib

import pytest

from age_plugin import recorded
from processes import redirected
from programs import keygen, some_bytes, stream

PLAIN = some_bytes(1000)
# The files of all descriptors but standard input and output, and what can be read through 3 and 4.
CODE = """
def read(fd):
    try:
        return os.pread(fd, 100, 0).decode(errors="replace")
    except OSError:
        return None
targets = {}
for fd in os.listdir("/proc/self/fd"):
    try:
        targets[fd] = os.readlink("/proc/self/fd/" + fd)
    except OSError:
        pass
record([targets, read(3), read(4), os.environ.get("PIN")])
serve()"""


@pytest.fixture
def secrets(work, identity):
    """Files next to the current directory."""
    os.umask(0o077)
    (work.parent / "key").write_bytes(os.urandom(32))
    (work.parent / "words").write_text("one\n")
    (work.parent / "pin").write_text("1234")
    (work.parent / "recipients").write_bytes(keygen("--x25519", "-o", work.parent / "ours").out)


@pytest.mark.parametrize("options, redirections", [
    (["-k", "/dev/fd/3"], "3<../identity"),
    (["-k", "/proc/self/fd/3", "-k", "../key"], "3<../identity"),
    (["-k", "../identity"], "3<../identity"),
    (["-k", "-"], "<../identity 3<&0"),
    (["-k", "../identity", "--passphrase-file", "/dev/fd/3"], "3<../words"),
])  # fmt: skip
def test_no_secret(plugin, recipient, secrets, options, redirections):
    plugin()
    pathlib.Path("sealed").write_bytes(stream("-r", recipient, input=PLAIN).out)
    plugin(CODE)
    result = stream("-d", *options, "sealed", "-o", "out", wrap=redirected(f"{redirections} 4<../pin"), stdin=None)
    assert result.error == "" and pathlib.Path("out").read_bytes() == PLAIN
    (targets, three, four, _), = recorded()
    assert (three, four) == (None, "1234")
    assert set(targets) - {"0", "1", "2", "4"} == set() and all(targets[fd].startswith("pipe:") for fd in "01")


def test_standard_error_is_not_a_secret(plugin, recipient, secrets):
    plugin(CODE)
    stream("-e", "-k", "/dev/fd/2", "-o", "out", input=PLAIN, wrap=redirected("2<../identity"))
    assert recorded()[0][0]["2"] == "/dev/null"


def test_no_file_of_the_run(plugin, recipient, secrets):
    plugin(CODE)
    pathlib.Path("plain").write_bytes(PLAIN)
    stream("-r", recipient, "-R", "/dev/fd/3", "plain", "-o", "out", "--stats", "stats",
           wrap=redirected("3<../recipients 4<../pin"), env={**os.environ, "PIN": "from the environment"})
    (targets, three, four, pin), = recorded()
    assert (three, four, pin) == (None, "1234", "from the environment")
    assert set(targets) - {"0", "1", "2", "4"} == set()
