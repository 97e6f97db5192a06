"""--info fails like decryption for input that is not a stream, or that this version cannot read. Options that it cannot
use are usage errors."""

import pathlib

import pytest

from programs import NOT_ENCRYPTED, files_here, some_bytes, stream

LATER = "try a later version of gpuaes-stream"
NOT_SEALED = "the input is not in the sealed format: it does not begin with 'gpuaes-stream/1' and a newline"


@pytest.fixture
def sealed(key):
    """The content of the file `sealed`. The file `plain` has its plaintext."""
    pathlib.Path("plain").write_bytes(some_bytes(1000))
    stream("-q", "-k", key, "-o", "sealed", "plain")
    return pathlib.Path("sealed").read_bytes()


def test_other_input(key, sealed):
    """Whether it is a file or a pipe, with text or JSON; decryption has the same error."""
    def changed(at, value):
        return sealed[:at] + bytes([value]) + sealed[at + 1 :]

    for bad, status, error, hint in (
            (some_bytes(1000), 4, "the input is not in a known format", NOT_ENCRYPTED),
            (b"", 4, "the input is empty", ""),
            (changed(14, 50), 1, "the input uses a version of the sealed format other than 1", LATER),
            (changed(16, 9), 1, "the input uses cipher suite 09, which this version does not support", LATER),
            (changed(17, 0), 4, "the input is corrupt at byte 17, in its header: it has 0 key slots; "
             "1 to 32 are allowed; nothing was written", ""),
            (changed(20, 128), 1, "the input has a slot of type 80 at byte 20, which this version does not support",
             LATER),
            (changed(22, 63), 4, "the input is corrupt at byte 86, in its header: "
             "the slots do not fill their stated size; nothing was written", ""),
            (sealed[:14], 4, NOT_SEALED, NOT_ENCRYPTED), (sealed[:15], 4, NOT_SEALED, NOT_ENCRYPTED),
            *((sealed[:size], 4, f"the input is truncated after byte {size}, in its header; nothing was written", "")
              for size in (16, 17, 20, 100, 174))):
        pathlib.Path("bad").write_bytes(bad)
        for options in (["--info"], ["--info", "--json"], ["-q", "-d", "-k", key]):
            for ends, name in ([], ""), (["-i", "bad"], "bad: "):
                result = stream(*options, *ends, input=bad, status=status)
                assert (result.error, result.hint, result.out) == (name + error, hint, b"")


@pytest.mark.parametrize("options, content, status, error", [
    ("-i bad", b"Salted__1234567", 4, "bad: the input is truncated after byte 15, in its header; nothing was written"),
    ("-f cobblestone -i bad", bytes(55), 4,
     "bad: the input is truncated after byte 55, in its header; nothing was written"),
    ("-f sealed -i plain", b"", 4, f"plain: {NOT_SEALED}"),
    ("-f openssl -i plain", b"", 4, "plain: the input is not in the openssl format: it does not begin with 'Salted__'"),
    ("-i missing", b"", 1, "--input: cannot open missing: No such file or directory"),
    ("-i .", b"", 1, "--input: . does not contain a sealed file in parts"),
    ("-f nonsense -i sealed", b"", 2, "unknown format 'nonsense'"),
])
def test_input_not_in_the_named_format(sealed, options, content, status, error):
    pathlib.Path("bad").write_bytes(content)
    assert stream("--info", *options.split(), status=status).error == error


@pytest.mark.parametrize("options, name", [
    ("-k KEY", "key"), ("-p", "passphrase"), ("--passphrase-file plain", "passphrase-file"), ("-e", "encrypt"),
    ("-o out", "output"), ("-c aes-256", "cipher"), ("--iv 00", "iv"), ("--context 00", "context"),
    ("--iter 5", "iter"), ("-l cpu", "lanes"), ("-b 16K", "chunk-size"), ("--stats out", "stats"),
    ("--trace out", "trace"), ("--test", "test")])
def test_options_that_it_does_not_use(key, sealed, options, name):
    result = stream("--info", *options.replace("KEY", key).split(), "-i", "sealed", status=2)
    assert result.error == f"--info cannot be used with --{name}"
    assert result.hint == "--info accepts only --input, --format, --decrypt, --json, --verbose and --quiet"
    assert files_here() == ["plain", "sealed"]


def test_options_that_it_uses(key, sealed):
    stream("--info", "-d", "-q", "-i", "sealed")
    pathlib.Path("header").write_bytes(sealed[:175])
    stream("--info", "-f", "sealed", "-i", "header")
    for options in (["--json"], ["-q", "-d", "-k", key, "--json"]):
        assert stream(*options, "-i", "sealed", status=2).error == "--json requires --info"
