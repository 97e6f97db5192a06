"""Any of the three standard descriptors may be closed, and there may be few others. Files that the program opens never
get the numbers of closed ones, so no message ends up in the output, and no output in the key file."""

import pathlib

import pytest

from processes import expect_exit, redirected
from programs import KEY, IV, SANITIZED, expect_same, files_here, openssl_ctr, raw, some_bytes, start, stream

PLAIN = some_bytes(200_000)
NO_INPUT = "cannot read standard input: Bad file descriptor"
NO_OUTPUT = "cannot write standard output: Bad file descriptor"


@pytest.fixture(autouse=True)
def plain(work, key):
    pathlib.Path("plain").write_bytes(PLAIN)
    yield
    assert pathlib.Path(key).read_bytes() == KEY


@pytest.mark.parametrize("redirections, options, error", [
    (">&-", "-i plain", NO_OUTPUT),
    ("<&-", "", NO_INPUT),
    ("<&- >&-", "", NO_INPUT),
    # Open in the wrong direction.
    ("0>../other", "", NO_INPUT),
    (">../other 1<../other", "-i plain", NO_OUTPUT),
])
def test_a_descriptor_that_is_needed(key, redirections, options, error):
    result = raw(key, *options.split(), status=1, wrap=redirected(redirections))
    assert (result.error, result.out) == (error, b"")


@pytest.mark.root
def test_without_devices(key):
    """In a chroot, for example. Messages do not end up in the output, which would otherwise get their descriptor."""
    in_empty_dev = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /dev && exec "$@" 2>&-', "sh"]
    stream("-f", "raw", "--iv", IV, "-k", key, "-v", "-i", "plain", "-o", "out", wrap=in_empty_dev)
    expect_same(openssl_ctr(PLAIN), pathlib.Path("out").read_bytes())


@pytest.mark.parametrize("redirections, options, status", [
    ("2>&- <plain >out", "", 0),
    ("2>&-", "-i plain -o out", 0),
    ("2>&-", "-v -i plain -o out --stats stats", 0),
    ("2>&-", "-i missing -o out", 1),
    ("<&- >&- 2>&-", "-i plain -o out", 0),
    ("<&- >&- 2>&-", "", 1),
])
def test_standard_error(key, redirections, options, status):
    pathlib.Path("out").write_bytes(b"old")
    command = ["-f", "raw", "--iv", IV, "-k", key, *options.split()]
    expect_exit(start("gpuaes-stream", *command, wrap=redirected(redirections)), status)
    assert files_here() == ["out", "plain", *(["stats"] if "--stats" in options else [])]
    expect_same(openssl_ctr(PLAIN) if status == 0 else b"old", pathlib.Path("out").read_bytes())


@pytest.mark.skipif(SANITIZED, reason="UndefinedBehaviorSanitizer needs descriptors itself")
@pytest.mark.parametrize("count", [5, 6, 7, 8])
def test_too_few(key, count):
    limited = ["sh", "-c", f'ulimit -n {count}; exec "$@"', "sh"]
    found = stream("-k", key, "-i", "plain", "-o", "out", status=1, wrap=limited)
    error = found.error
    assert error in ("cannot create a thread or another system resource: Too many open files",
                     f"--key: cannot open {key}: Too many open files")
    assert found.hint == "allow more open files, for example with ulimit -n 1024"
    assert count > 5 or not error.startswith("--key")
    assert files_here() == ["plain"]
