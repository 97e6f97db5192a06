"""gpuage and age, with the same options, open what the other encrypted; what a signal or a full disk leaves."""

import os
import pathlib
import shutil
import signal
import subprocess

import pytest

from processes import expect_death_by, wait_until_idle
from programs import FOLDER, PATIENCE, expect_same, secret_file, some_bytes, start

PLAIN = some_bytes(200000)
AGE, AGE_KEYGEN = shutil.which("age"), shutil.which("age-keygen")
pytestmark = pytest.mark.skipif(not AGE or not AGE_KEYGEN, reason="age is not installed")

OURS, THEIRS = [FOLDER / "gpuage"], [AGE]
WAYS = pytest.mark.parametrize("encrypts, decrypts", [(OURS, THEIRS), (THEIRS, OURS)], ids=["to age", "from age"])


def run(command, *options, input=b"", silent=True):
    done = subprocess.run([*command, *options], input=input, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0 and (not silent or done.stderr == b""), done.stderr
    return done.stdout


@pytest.fixture
def recipient(work):
    """Of the identity in the file `identity`, and the files `recipients` and `plain`."""
    run([AGE_KEYGEN], "-o", "identity", silent=False)
    text = run([AGE_KEYGEN], "-y", "identity").decode().strip()
    assert run([FOLDER / "gpuage-keygen"], "-y", "identity").decode().strip() == text
    pathlib.Path("recipients").write_text(f"# mine\n\n{text}\n")
    pathlib.Path("plain").write_bytes(PLAIN)
    return text


@WAYS
def test_each_option(recipient, encrypts, decrypts):
    for options in (["-r", recipient], ["--recipient", recipient, "--armor"], ["-R", "recipients", "-a"],
                    ["--recipients-file=recipients", "--encrypt"], ["-e", "-i", "identity"]):
        run(encrypts, *options, "-o", "made", "plain")
        expect_same(PLAIN, run(decrypts, "-d", "-i", "identity", "made"), options)
        made = run(encrypts, *options, input=PLAIN)
        expect_same(PLAIN, run(decrypts, "--decrypt", "--identity", "identity", "-o", "-", "-", input=made), options)
    run(decrypts, "-d", "--output=opened", "-i", "identity", "made")
    expect_same(PLAIN, pathlib.Path("opened").read_bytes())


@WAYS
@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed")
@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
def test_ssh_keys(recipient, encrypts, decrypts, kind):
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", "key"], check=True)
    for options in ["-R", "key.pub"], ["-r", pathlib.Path("key.pub").read_text()], ["-e", "-i", "key"]:
        run(encrypts, *options, "-o", "made", "plain")
        expect_same(PLAIN, run(decrypts, "-d", "-i", "identity", "-i", "key", "made"), options)


def test_identities_of_the_other_program(recipient):
    secret_file("ours", run([FOLDER / "gpuage-keygen"], silent=False))
    made = run(THEIRS, "-r", run([AGE_KEYGEN], "-y", "ours").decode().strip(), input=PLAIN)
    expect_same(PLAIN, run(OURS, "-d", "-i", "ours", input=made))


def test_a_signal_leaves_no_output(recipient):
    child = start("gpuage", "-r", recipient, "-o", "made", stdin=subprocess.PIPE)
    child.stdin.write(PLAIN)
    wait_until_idle(child)
    expect_death_by(child, signal.SIGINT)
    assert sorted(os.listdir()) == ["identity", "plain", "recipients"]


def test_a_reader_that_stops_ends_it(recipient):
    made = run(OURS, "-r", recipient, input=some_bytes(5000000))
    pathlib.Path("made").write_bytes(made)
    command = ["bash", "-c", '"$1" -d -i identity made | head -c 1 >/dev/null; echo "${PIPESTATUS[0]}"', "bash", *OURS]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"141\n"
