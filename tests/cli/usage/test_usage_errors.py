"""An invalid command line is a usage error with a hint: the program never guesses, and writes no output."""

import pathlib

import pytest

from programs import IV, files_here, keygen, raw, run, stream

LIST = "run with --help for a list of options"
FORMATS = "the formats are sealed, age, cobblestone, openssl, raw"
TOGETHER = "--encrypt and --decrypt cannot be used together"
TWO_NAMES = "--input cannot be used together with another input file"
ONCE = "name the input only once, and a key or identity file with -k"
FILE = "use /dev/stdout or /dev/stderr for standard output or standard error"


def expect_usage_error(key, options, error, hint):
    """For command lines in raw format."""
    pathlib.Path("plain").write_bytes(b"text")
    result = raw(key, *options.split(), status=2)
    assert (result.error, result.hint) == (error, hint), options
    assert files_here() == ["plain"], options


@pytest.mark.parametrize("options, error, hint", [
    ("-e -d", TOGETHER, ""),
    ("--decrypt --encrypt", TOGETHER, ""),
    ("-i plain plain", TWO_NAMES, ONCE),
    ("-i plain stray", TWO_NAMES, ONCE),
    ("-i - plain", TWO_NAMES, ONCE),
    ("--input=plain plain", TWO_NAMES, ONCE),
    ("-d -- plain", "--decrypt cannot be used with a command",
     "what follows -- is a command whose output is encrypted"),
    ("-d=yes", "option '-d' does not take a value", LIST),
    ("--decrypt=yes", "option '--decrypt' does not take a value", LIST),
    ("--decrypt=", "option '--decrypt' does not take a value", LIST),
    ("--decr=yes", "option '--decrypt' does not take a value", LIST),
    ("--stats -", "--stats requires a file name, not -", FILE),
    ("--trace -", "--trace requires a file name, not -", FILE),
    ("--size 1x", "invalid --size '1x'",
     "use a whole number of bytes, optionally followed by K, M, G or T, as in 64M or 64MiB"),
])
def test_invalid_command_lines(key, options, error, hint):
    expect_usage_error(key, options, error, hint)


@pytest.mark.parametrize("options, name", [
    ("-f raw", "--format"),  # raw() gives the first one
    (f"--iv {IV}", "--iv"),
    ("-b 16 -b 16", "--chunk-size"),
    ("-i plain -i plain", "--input"),
    ("-o one -o two", "--output"),
    ("-l cpu --lanes cpu", "--lanes"),
    ("-c aes-256 -c aes-256", "--cipher"),
    ("--stats one --stats two", "--stats"),
    ("--size 1 --size 2", "--size"),
])
def test_an_option_with_a_value_is_not_repeated(key, options, name):
    expect_usage_error(key, options, f"option '{name}' cannot be specified more than once", LIST)


@pytest.mark.parametrize("options, hint", [
    ("-c --cipher --ciph --cipher= --ciph= -dc", "--cipher CIPHER: aes-128, aes-192, aes-256 or kuznyechik"),
    ("-f", "--format FORMAT: sealed, age, cobblestone, openssl or raw"),
    ("-k", "--key FILE: Read a key, identities or an ssh private key (without a passphrase) from FILE"),
    ("-b --chunk-size", "--chunk-size SIZE: Process SIZE bytes of plaintext at a time"),
    ("--iter", "--iter N: OpenSSL format: the number of PBKDF2 iterations (default 10000)"),
    ("-i --input", "--input FILE: Read from FILE instead of standard input (-)"),
    ("-o --output", "--output FILE: Write to FILE instead of standard output (-)"),
    ("-l", "--lanes SPEC: Where to compute: auto (the default), auto:low-cpu, or cpu[:THREADS] and "
           "cuda[:DEVICE[:STREAMS]], joined by +"),
    ("--stats", "--stats FILE: Write statistics to FILE as JSON"),
    ("--size", "--size SIZE: Expected size of input from a pipe, for --progress"),
])
def test_an_option_without_its_value(key, options, hint):
    for option in options.split():
        expect_usage_error(key, option, f"option '{hint.split()[0]}' requires a value", hint)


@pytest.mark.parametrize("options, hint", [
    ("--decription --decryption", "perhaps you meant --decrypt"),
    ("--encryption --ecnrypt", "perhaps you meant --encrypt"),
    ("--kye --keyfile=x", "perhaps you meant --key"),
    ("--password", "perhaps you meant --passphrase"),
    ("--password-file=x", "perhaps you meant --passphrase-file"),
    ("--recepient", "perhaps you meant --recipient"),
    ("--outputfile", "perhaps you meant --output"),
    ("--cypher", "perhaps you meant --cipher"),
    ("--chunksize=1", "perhaps you meant --chunk-size"),
    ("--iterations", "perhaps you meant --iter"),
    ("--no-such-option --x --file --type -x -X -K", LIST),
])
def test_an_unknown_option(key, options, hint):
    for option in options.split():
        expect_usage_error(key, option, f"unknown option '{option.partition('=')[0]}'", hint)


def test_unknown_names(key):
    expect_usage_error(key, "--=plain", "unknown option '--'", LIST)
    for name in "nonsense", "", "RAW", "raw2":
        result = stream("-f", name, "--iv", IV, "-k", key, status=2)
        assert (result.error, result.hint) == (f"unknown format '{name}'", FORMATS)
    result = keygen("--x25591", status=2)
    assert (result.error, result.hint) == ("unknown option '--x25591'", "perhaps you meant --x25519")
    result = run("gpuaes-bench", "kernels", "--sizes", status=2)
    assert result.error == "option '--sizes' requires a value"
    assert result.hint == "--sizes SIZES: Bytes per launch, separated by commas (default 1K,4K,16K,...,1G)"
