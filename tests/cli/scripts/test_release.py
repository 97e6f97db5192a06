"""scripts/release: signatures that users verify with the commands of SECURITY.md, the comparison of two releases, and the
archive of test vectors."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile

import pytest

from programs import script

TOP = pathlib.Path(__file__).parents[3]
AUTHOR = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed")


@pytest.fixture
def release(work):
    """A folder with scripts/release and what it made. The key is a throwaway."""
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
    commands = commands.replace("ssh-ed25519 KEY", public)
    return subprocess.run(["bash", "-euc", commands], cwd=folder, capture_output=True).returncode == 0


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


# Stands for scripts/package. What is made depends on NOTE.
PACKAGE = """#!/bin/bash
mkdir -p build-package/{aarch64,libcrypto,static,content}
echo 1 >build-package/libcrypto/version
echo "NOTE" >build-package/content/note
tar -cz --owner=root --group=root --mode=u=rwX,go=rX --mtime=@1 -C build-package content >build-package/test.tar.gz
touch build-package/{test.deb,test.whl,aarch64/test-arm.deb,aarch64/test-arm.tar.gz,aarch64/test-arm.whl}
"""


@pytest.fixture
def temporary_files():
    """A folder for them, which another user may enter."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield folder


@pytest.fixture
def make_release(release, temporary_files):
    """Makes a release with the scripts of a small repository, and checks it. Returns the exit status and all output."""
    if not shutil.which("faketime"):
        pytest.skip("faketime is not installed")
    if "bookworm" not in pathlib.Path("/etc/os-release").read_text():
        pytest.skip("this is not Debian 12")

    def call(*arguments):
        done = subprocess.run(["scripts/release", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "CUDACXX": shutil.which("true"), "TMPDIR": temporary_files})
        return done.returncode, done.stdout

    def make(note):
        script("scripts/package", PACKAGE.replace("NOTE", note))
        for name in "scripts/package.d/libcrypto", "scripts/release.d/contents", "scripts/release.d/kit":
            script(name, "")
        pathlib.Path(".gitignore").write_text("dist\nbuild-package\nkey*\n")
        for command in ["init", "-q"], ["add", "-A"], [*AUTHOR, "commit", "-qm", "All"]:
            subprocess.run(["git", *command], check=True)
        status, output = call()
        assert status == 0, output
        return call("--check")
    return make


def test_the_same_release_again(make_release, temporary_files):
    status, output = make_release("the same")
    assert status == 0 and "both releases are the same" in output, output
    assert os.listdir(temporary_files) == []


@pytest.mark.parametrize("note", ["$(id -u)", "$(date +%F)", "$PWD"])
def test_a_release_that_depends_on_where_it_is_made(make_release, temporary_files, note):
    status, output = make_release(note)
    assert status == 1 and "test.tar.gz differs" in output, output
    assert "here/test.tar.gz/content/note and there/test.tar.gz/content/note differ" in output
    assert f"the other release is in {temporary_files}/" in output


def test_the_archive_of_test_vectors():
    """It contains the vectors and two pages, and is the same each time."""
    archives = []
    for folder, umask in ("one", "022"), ("two", "077"):
        subprocess.run(["sh", "-c", 'umask "$1" && mkdir "$2" && "$3" "$2"', "sh", umask, folder,
                        TOP / "scripts/release.d/kit"], check=True)
        archives += pathlib.Path(folder).iterdir()
    assert archives[0].name == archives[1].name and archives[0].read_bytes() == archives[1].read_bytes()
    outer = archives[0].name.removesuffix(".tar.gz")
    assert re.fullmatch(r"gpuaes-sealed-kit-[0-9.]+", outer)
    with tarfile.open(archives[0]) as archive:
        members = archive.getmembers()
    assert {(member.uname, member.gname, oct(member.mode)) for member in members if member.isfile()} == {
        ("root", "root", "0o644")}
    names = [member.name.removeprefix(f"{outer}/") for member in members if member.isfile()]
    assert names[:3] == ["LICENSE", "README.md", "gpuaes-stream.5"] and names == sorted(names)
    assert all(name.startswith("vectors/") for name in names[3:]) and len(names) > 500
