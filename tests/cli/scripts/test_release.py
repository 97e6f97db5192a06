"""scripts/release --sign: what users verify with the commands of SECURITY.md. The key is a throwaway."""

import hashlib
import pathlib
import re
import shutil
import subprocess

import pytest

TOP = pathlib.Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed")


@pytest.fixture
def release(work):
    """A folder with scripts/release and what it made."""
    shutil.copytree(TOP / "scripts", work / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    (work / "dist").mkdir()
    for name in "contents.cdx.json", "package.deb":
        (work / "dist" / name).write_text(name)
    names = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in sorted((work / "dist").iterdir())]
    (work / "dist/SHA256SUMS").write_text("\n".join(names) + "\n")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key"], check=True)
    return work / "dist"


def sign(key="key"):
    done = subprocess.run(["scripts/release", "--sign", key], capture_output=True, text=True)
    return done.returncode, done.stderr


def verifies(folder):
    commands = re.search(r"## Verifying a release.*?```sh\n(.*?)```", (TOP / "SECURITY.md").read_text(), re.DOTALL)[1]
    public = " ".join(pathlib.Path("key.pub").read_text().split()[:2])
    script = commands.replace("ssh-ed25519 KEY", public)
    return subprocess.run(["bash", "-euc", script], cwd=folder, capture_output=True).returncode == 0


def test_a_signed_release(release):
    assert sign()[0] == 0
    assert verifies(release)
    (release / "contents.cdx.json").unlink()  # not every user has all files
    assert verifies(release)


@pytest.mark.parametrize("name", ["SHA256SUMS", "SHA256SUMS.sig", "package.deb"])
def test_a_changed_file(release, name):
    assert sign()[0] == 0
    contents = bytearray((release / name).read_bytes())
    middle = len(contents) // 2
    contents[middle] = ord("B") if contents[middle] == ord("A") else ord("A")
    (release / name).write_bytes(contents)
    assert not verifies(release)


def test_another_key(release):
    assert sign()[0] == 0
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "other"], check=True)
    pathlib.Path("other.pub").replace("key.pub")
    assert not verifies(release)


def test_what_changed_since_is_not_signed(release):
    (release / "package.deb").write_text("changed")
    status, errors = sign()
    assert status == 1 and "the files in dist/ have changed" in errors and not list(release.glob("*.sig"))


def test_no_release_or_no_key(release):
    assert sign("missing")[0] != 0 and not list(release.glob("*.sig"))
    shutil.rmtree(release)
    assert "run scripts/release first" in sign()[1]
