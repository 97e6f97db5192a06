"""Long options, their prefixes and short options have the same meaning. A prefix of several options is an error that
lists them."""

import functools
import pathlib
import re

import pytest

from programs import IV, each_way, expect_same, openssl_ctr, raw, run, some_bytes, spread, stream

PLAIN = some_bytes(100000)


def test_long_and_short_options(key):
    pathlib.Path("plain").write_bytes(PLAIN)
    encrypted = openssl_ctr(PLAIN)
    stream("--encrypt", "--key", key, "--format", "raw", "--cipher", "aes-256", "--iv", IV, "--input", "plain",
           "--output", "out", "--lanes", "cpu:2", "--chunk-size", "4K", "--stats", "stats", "--trace", "trace",
           "--progress", "--force")
    stream("--decrypt", f"--key={key}", "--format=raw", "--cipher=aes-256", f"--iv={IV}", "--input=out",
           "--output=back", "--lanes=cpu:2", "--chunk-size=4K", "--stats=stats", "--trace=trace")
    stream(f"-qdk{key}", "-fraw", "-caes-256", "--iv", IV, "-iout", "-oagain", "-lcpu:2", "-b4K")
    stream("--enc", "--cip", "aes-256", "--form", "raw", "--iv", IV, "--key", key, "--inp", "plain",
           "--output=with-prefixes", "--chunk", "16K", "--qui")
    for name, expected in ("out", encrypted), ("back", PLAIN), ("again", PLAIN), ("with-prefixes", encrypted):
        expect_same(expected, pathlib.Path(name).read_bytes(), name)
    expect_same(encrypted, raw(key, "-e", "-i", "plain").out, "-e")


def prefixes(options):
    """Each way to give a prefix of an option that is a usage error, with that error. `options` maps each name to the
    name of its value, or to an empty string."""
    for prefix in {name[:end] for name in options for end in range(1, len(name) + 1)}:
        meant = [prefix] if prefix in options else [name for name in options if name.startswith(prefix)]
        if len(meant) > 1:
            *others, last = [f"--{name}" for name in meant]
            error = f"option '--{prefix}' is ambiguous: {', '.join(others)} or {last}"
            for value in "", "=", "=value":
                yield f"--{prefix}{value}", error
        elif options[meant[0]]:
            yield f"--{prefix}", f"option '--{meant[0]}' requires a value"
        elif meant[0].endswith("passphrase"):
            yield (f"--{prefix}=value",
                   "a passphrase was given on the command line, where other users may have seen it")
        else:
            yield f"--{prefix}=value", f"option '--{meant[0]}' does not take a value"


@pytest.mark.parametrize("command", ["gpuaes-stream", "gpuaes-parts seal", "gpuaes-bench pipeline"])
def test_prefixes_of_options(batch, command):
    run_it = functools.partial(run, *command.split())
    options = dict(re.findall(r"^  (?:-\w,|   ) --([\w-]+)( [A-Z][^ ]*)?", run_it("-h").out.decode(), re.M))
    assert len(options) >= 3
    runs = [(run_it, case) for case in spread(prefixes(options), 40)]
    if command == "gpuaes-stream":
        runs = each_way(batch, prefixes(options))
    for run_one, (option, error) in runs:
        assert run_one(option, status=2).error == error, option
