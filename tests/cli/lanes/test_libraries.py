"""CPU lanes use libgcrypt where it is faster than libcrypto; whether it works, fails or is missing, the result is right.

libcrypto is denied AES instructions, AVX and what came later, so that libgcrypt is faster on any x86 CPU."""

import ctypes.util
import hashlib
import os
import pathlib
import re

import pytest

from age_format import identity_text
from programs import FOLDER, keygen, overwrite, stream

FAKE = FOLDER / "tests/fake"
SLOW = {"OPENSSL_ia32cap": "~0x1200000000000000:~0xD0230020"}
USED = re.compile(r"^CPU threads used (libcrypto|libgcrypt 1[.\d]+) \(", re.M)
TRIAL = 64 << 20  # bytes of input after which the libraries are measured
IV = "ff" * 15 + "f0"
KINDS = {"sealed": ["-k", "key"], "raw": ["-f", "raw", "--iv", IV, "-k", "key"],
         "raw-128": ["-f", "raw", "-c", "aes-128", "--iv", IV, "-k", "key128"], "age": ["-R", "recipient"]}


def find_libgcrypt():
    """The path of the library, which the fake one calls."""
    name = ctypes.util.find_library("gcrypt")
    if name is None:
        return None
    ctypes.CDLL(name)
    return next(line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if name in line)


pytestmark = pytest.mark.skipif(find_libgcrypt() is None, reason="libgcrypt is not installed")
needs_fake = pytest.mark.skipif(not FAKE.exists(), reason="the library that fails is built with the tests")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    path = tmp_path_factory.mktemp("libraries") / "plain"
    path.write_bytes(hashlib.shake_256(b"plain").digest(1 << 20) * 71 + b"end")
    return path


def with_fake(failure):
    return {**SLOW, "LD_LIBRARY_PATH": f"{FAKE}", "LIBGCRYPT": find_libgcrypt(), "FAKE": failure}


def run(*options, env=SLOW, **how):
    """Runs gpuaes-stream -v with these variables. Returns its result, and the library that its CPU lanes chose."""
    result = stream("-v", *options, env={**os.environ, **env}, **how)
    chosen = [USED.match(note).group(1).split()[0] for note in result.notes if USED.match(note)]
    return result, "".join(chosen)


@pytest.fixture(autouse=True)
def keys(work):
    for name, text in ("key", bytes(range(32))), ("key128", bytes(range(16))), ("identity", identity_text().encode()):
        pathlib.Path(name).write_bytes(text)
        os.chmod(name, 0o600)
    pathlib.Path("recipient").write_bytes(keygen("-y", "identity").out)


def failures_of(result):
    return [warning for warning in result.warnings if warning.startswith("worker ")]


def decrypts_to(plain, options, name, env, library):
    """Whether the file decrypts to `plain`, with this library."""
    keys = ["-k", "identity"] if "-R" in options else options
    chosen = run("-d", *keys, "-i", name, "-o", "opened", env=env)[1]
    return chosen == library and pathlib.Path("opened").read_bytes() == plain.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_each_library_reads_what_the_other_writes(kind, plain):
    os.mkdir("without")
    pathlib.Path("without/libgcrypt.so.20").write_bytes(b"not a library")
    without = {**SLOW, "LD_LIBRARY_PATH": "without"}
    options = KINDS[kind]
    assert run(*options, "-i", plain, "-o", "one")[1] == "libgcrypt"
    assert run(*options, "-i", plain, "-o", "other", env=without)[1] == ""
    assert decrypts_to(plain, options, "one", without, "")
    assert decrypts_to(plain, options, "other", SLOW, "libgcrypt")
    if kind.startswith("raw"):
        assert pathlib.Path("one").read_bytes() == pathlib.Path("other").read_bytes()


def test_damage_is_found(plain):
    run("-k", "key", "-i", plain, "-o", "sealed")
    overwrite("sealed", TRIAL + (3 << 20), b"damage")
    result, _ = run("-dk", "key", "-i", "sealed", status=4)
    whole = plain.read_bytes()
    assert TRIAL < len(result.out) < len(whole) and whole.startswith(result.out)
    assert "corrupt at byte 70" in result.error


@needs_fake
@pytest.mark.parametrize("size", [TRIAL, TRIAL + (3 << 20)])
def test_short_inputs_do_not_load_it(size, plain):
    with open(plain, "rb") as file:
        assert run("-k", "key", "-o", "sealed", env=with_fake(""), input=file.read(size))[1] == (
            "libgcrypt" if size > TRIAL else "")
    assert os.path.exists("loaded") == (size > TRIAL)


@needs_fake
@pytest.mark.parametrize("failure", ["old", "fips"])
def test_an_old_version_and_fips_mode_are_not_used(failure, plain):
    assert run("-k", "key", "-i", plain, "-o", "sealed", env=with_fake(failure))[1] == ""
    assert os.path.exists("loaded")
    assert decrypts_to(plain, KINDS["sealed"], "sealed", with_fake(failure), "")


@needs_fake
def test_it_does_not_end_the_process_if_no_file_can_be_opened(plain):
    result, chosen = run("-k", "key", "-i", plain, env=with_fake("full"))
    assert chosen == "" and os.path.exists("loaded")
    pathlib.Path("sealed").write_bytes(result.out)
    assert decrypts_to(plain, KINDS["sealed"], "sealed", SLOW, "libgcrypt")


@pytest.mark.root
@needs_fake
def test_it_does_not_change_the_user(plain):
    os.mkdir("private", 0o700)
    assert run("-k", "key", "-i", plain, "-o", "private/sealed", env=with_fake("setuid"))[1] == "libgcrypt"
    assert os.path.exists("loaded")
    assert decrypts_to(plain, KINDS["sealed"], "private/sealed", SLOW, "libgcrypt")


@pytest.mark.root
def test_it_is_not_used_in_a_program_with_more_privileges_than_its_user(plain):
    os.mkdir("private", 0o700)
    setuid = {"preexec_fn": lambda: os.setresuid(65534, 0, 0)}
    assert run("-k", "key", "-i", plain, "-o", "private/sealed", **setuid)[1] == ""
    assert decrypts_to(plain, KINDS["sealed"], "private/sealed", SLOW, "libgcrypt")


@needs_fake
@pytest.mark.parametrize("count", [0, 1, 2, 3])
@pytest.mark.parametrize("function", ["open", "setkey"])
def test_lanes_without_room_for_their_keys_use_libcrypto(function, count, plain):
    options = KINDS["sealed"]
    failing = with_fake(f"cipher_{function} {count}")
    chosen = run(*options, "-l", "cpu:3", "-i", plain, "-o", "one", env=failing)[1]
    assert chosen == ("libgcrypt" if count > 1 else "" if count == 0 else "libcrypto")
    assert decrypts_to(plain, options, "one", SLOW, "libgcrypt")


@needs_fake
@pytest.mark.parametrize("kind, function", [
    ("sealed", "setiv"), ("sealed", "encrypt"), ("raw", "setctr"), ("age", "gettag")])
@pytest.mark.parametrize("count", [0, 200])
def test_failures_while_encrypting_are_warnings(kind, function, count, plain):
    """The first calls compare the first segment, and the next ones measure."""
    options = KINDS[kind]
    result, _ = run(*options, "-l", "cpu:2", "-i", plain, "-o", "one", env=with_fake(f"cipher_{function} {count}"))
    assert count > 0 or len(failures_of(result)) == 1
    assert all(f"libgcrypt: gcry_cipher_{function}: planted failure" in text for text in failures_of(result))
    assert decrypts_to(plain, options, "one", SLOW, "libgcrypt")


@needs_fake
@pytest.mark.parametrize("function", ["setiv", "decrypt", "checktag"])
@pytest.mark.parametrize("count", [0, 200])
def test_failures_while_decrypting_are_warnings(function, count, plain):
    run("-k", "key", "-i", plain, "-o", "sealed")
    result, _ = run("-dk", "key", "-l", "cpu:2", "-i", "sealed", "-o", "one", env=with_fake(f"cipher_{function} {count}"))
    assert pathlib.Path("one").read_bytes() == plain.read_bytes()
    assert all(f"libgcrypt: gcry_cipher_{function}: planted failure" in text for text in failures_of(result))


@needs_fake
@pytest.mark.parametrize("kind", ["sealed", "raw", "age"])
def test_a_library_that_computes_wrong_results_is_not_used(kind, plain):
    options = KINDS[kind]
    result, chosen = run(*options, "-i", plain, "-o", "one", env=with_fake("wrong"))
    assert chosen == "" and failures_of(result) == [
        "worker cpu failed (libgcrypt and libcrypto disagree); its work was reassigned"]
    assert decrypts_to(plain, options, "one", SLOW, "libgcrypt")
    assert decrypts_to(plain, options, "one", with_fake("wrong"), "")
