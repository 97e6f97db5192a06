"""gpuaes-bench refuses unknown commands and invalid arguments with a reason, and describes its commands."""

import re

import pytest

from programs import run

COMMANDS = "read memory device transfer kernels keys sweep limits pipeline".split()
HELP = "run with --help for a list of options"
LIST = "gpuaes-bench -h lists the commands"
READ = "usage: gpuaes-bench read [OPTION]... THREADS SIZE [BUFFERS] <FILE"
SIZE = "use a whole number of bytes from 1 to 1G, optionally followed by K, M or G, as in 64K or 64KiB"
CIPHERS = "the ciphers are aes-128, aes-192, aes-256, kuznyechik"
KERNEL_CIPHERS = CIPHERS + ", chacha20-poly1305"
MODES = "modes are ctr, seal and open; aead means seal and open"
STEPS = "steps are read, in and out, joined by +"
LANES = "use auto, auto:low-cpu, or cpu[:THREADS] and cuda[:DEVICE[:STREAMS]] joined by +"
LANES_VALUE = ("--lanes LANES: Lanes to measure, each in the form that gpuaes-stream -l takes, "
               "or none[:THREADS] for lanes that do nothing; separated by commas")
TOO_MANY = ["read 2 1M 3 {}", "memory 1 {}", "device 1M {}", "transfer {}", "kernels {}", "keys {}",
            "limits {}", "sweep {}", "pipeline {}"]
OF_KERNELS = ["kernels --ciphers {}", "keys --ciphers {}", "sweep --ciphers {}"]
OF_CPUS = ["memory --ciphers {} 1", "pipeline --ciphers {}"]
COUNTS = ["transfer --devices {}", "transfer --streams {}", "transfer --buffers {}"]
EMPTY_PARTS = [(OF_KERNELS, ["", ",", "ctr,", ",ctr"]),
               (["kernels --variants {}", "keys --variants {}", "sweep --variants {}"], ["", ",", "ctr,", ",ctr"]),
               (["kernels --modes {}", "keys --modes {}"], ["", ",", "ctr,", ",ctr"]),
               (OF_CPUS, ["", ",", "aes-256,"]), (["pipeline -l {}"], ["", "cpu,", ",cpu", "cpu,,cpu"]),
               (["pipeline -b {}"], ["", "1M,"]), (["pipeline -f {}"], [""]), (["kernels --sizes {}"], ["", "1K,"]),
               (["kernels --copies {}"], [""]), (["transfer --steps {}"], ["", ",", "read,"]), (COUNTS, ["", "1,"]),
               (["transfer --sizes {}"], ["", "1M,"])]


@pytest.mark.parametrize("commands, values, error, hint", [
    # In a command and an error, {} is the value, and {last} what follows its last comma or colon.
    ([""], [""], "no command was given", LIST),
    (["{}", "{} stray"], ["-x"], "unknown command '{}'", LIST),
    (["{}"], ["stray"], "unknown command '{}'", LIST),
    (["-h {}"], ["stray"], "unknown command '-h'", LIST),
    (["read", "read 2"], [""], "read needs more arguments", READ),
    (TOO_MANY, ["stray"], "too many arguments", HELP),
    (["limits {} aes-128"], ["--ciphers"], "unknown option '{}'", HELP),
    (["kernels {} 128"], ["--keys"], "unknown option '{}'", HELP),
    (["keys {} 4M"], ["--sizes"], "unknown option '{}'", HELP),
    (["sweep {} ctr"], ["--modes"], "unknown option '{}'", HELP),
    (["sweep {} 4M"], ["--sizes"], "unknown option '{}'", "perhaps you meant --size"),
    (["memory {}"], ["--no-such", "-1"], "unknown option '{}'", HELP),
    (["read 1 {}", "read {} 1M"], ["-1"], "unknown option '{}'", HELP),
    (["memory {}"], ["--c"], "option '{}' is ambiguous: --ciphers or --csv", ""),
    (["memory --csv --json"], [""], "--csv and --json exclude each other", ""),
    (["read 1 1M --json=x"], [""], "option '--json' does not take a value", HELP),
    (["pipeline -l"], [""], "option '--lanes' requires a value", LANES_VALUE),
    (["pipeline --bytes 1M --seconds 1"], [""], "--seconds and --bytes exclude each other", ""),
    (["pipeline -b 1M -b 2M"], [""], "option '--chunk-size' cannot be specified more than once", HELP),
    # Numbers and sizes.
    (["read {} 1M", "memory {}"], ["0", "4097", "1K", "two", "", " 1"], "'{}' is not a number from 1 to 4096", ""),
    (COUNTS, ["0", "-1", "two", "4097", "1+2"], "'{}' is not a number from 1 to 4096", ""),
    (["pipeline -l {}"], ["none:", "none:0", "none:x"], "'{last}' is not a number from 1 to 4096", ""),
    (["read 3 1M 2"], [""], "there must be at least as many buffers as threads", "each thread reads into a buffer of its own"),
    (["read 1 {}"], ["1P", "64k", "64Ki", "", " 1"], "invalid size '{}'", SIZE),
    (["read 1 {}", "pipeline -b {}", "kernels --sizes {}", "transfer --sizes {}", "sweep --size {}"],
     ["0", "2G", "2GiB", "1T"], "size '{}' is out of range", SIZE),
    (["pipeline -b {}"], ["64k", "1M,x"], "invalid size '{last}'", SIZE),
    (["kernels --sizes {}"], ["-1", "1k", "1K,x"], "invalid size '{last}'", SIZE),
    (["transfer --sizes {}"], ["1k"], "invalid size '{}'", SIZE),
    (["sweep --size {}"], ["", "64k", "1M,4M"], "invalid size '{}'", SIZE),
    (["pipeline --bytes {}"], ["", "1TB"], "invalid size '{}'", SIZE),
    (["pipeline --bytes {}"], ["0"], "size '{}' is out of range", SIZE),
    (["device {}"], ["65M"], "copies are at most 64M", ""),
    (["pipeline --seconds {}"], ["", "0", "-1", "1s", "nan", "inf", "1e1", "3601"],
     "'{}' is not a number of seconds from 0.001 to 3600", ""),
    # Words.
    (["pipeline -l {}"], ["auto"], "lanes must be named: auto is not measured", ""),
    (["pipeline -l {}"], ["nothing"], "invalid lane specification '{}'", LANES),
    (["pipeline -l {}"], ["cpu:0"], "invalid lane specification '{}'", "the number of threads must be from 1 to 1024"),
    (["pipeline -l {}"], ["cuda:x"], "invalid lane specification '{}'", "the device number must be from 0 to 9999"),
    (["pipeline -f {}"], ["openssl", "cobblestone", "raw,RAW"], "format '{last}' is not measured",
     "formats are raw and sealed"),
    (["pipeline --source {}"], ["", "socket", "FILE"], "source '{}' is not known", "sources are file and pipe"),
    (["memory --ciphers {}"], ["gost"], "unknown cipher '{}'", CIPHERS),
    (OF_CPUS, ["AES-256", "aes", "kuznyechik,gost"], "unknown cipher '{last}'", CIPHERS),
    (OF_KERNELS, ["128", "aes", "AES-128", "aes-128x", "aes-128,aes-512", "kuznyechik "],
     "unknown cipher '{last}'", KERNEL_CIPHERS),
    (["pipeline -f raw,sealed --ciphers {}"], ["aes-128"], "the sealed format does not support aes-128",
     "formats that support it: cobblestone, openssl, raw"),
    (["pipeline -f raw,sealed --ciphers {}"], ["kuznyechik,aes-192"], "the sealed format does not support aes-192",
     "formats that support it: openssl, raw"),
    (["kernels --modes {}", "keys --modes {}"], ["CTR", "cbc", "gcm", "sea", "ctr,ecb"],
     "mode '{last}' is not known", MODES),
    (["kernels --copies {}"], ["maybe", "no,YES"], "copies '{last}' are not known", "use no, yes, or no,yes"),
    (["transfer --steps {}"], ["in+", "+out", "in++out"], "step '' is not known", STEPS),
    (["transfer --steps {}"], ["copy", "READ"], "step '{}' is not known", STEPS),
    (["transfer --steps {}"], ["in+copy"], "step 'copy' is not known", STEPS),
    *((commands, values, "list '{}' has an empty part", "") for commands, values in EMPTY_PARTS),
])  # fmt: skip
def test_a_usage_error(commands, values, error, hint):
    for command in commands:
        for value in values:
            result = run("gpuaes-bench", *(value if word == "{}" else word for word in command.split()), status=2)
            assert result.error == error.format(value, last=re.split("[,:]", value)[-1]), (command, value)
            assert result.hint == hint, (command, value)


@pytest.mark.parametrize("words, error", [
    ("kernels --variants no-such", "no kernel variant is named 'no-such'"),
    ("sweep --variants no-such", "no kernel variant is named 'no-such'"),
    ("keys --variants bitslice,no-such*", "no kernel variant is named 'no-such*'"),
    *((words, "none of these variants has one of these ciphers in one of these modes") for words in (
        "kernels --variants sbox* --modes aead", "kernels --variants ttable --modes seal",
        "kernels --variants sbox* --ciphers kuznyechik", "kernels --variants ls-shared --ciphers aes-128,aes-256",
        "sweep --variants ls-shared")),
])  # fmt: skip
def test_a_program_with_cuda_names_its_kernels_even_without_a_device(words, error):
    result = run("gpuaes-bench", *words.split(), status=None)
    if result.error == "this program was built without CUDA":
        assert (result.status, result.out) == (1, b"")
        return
    assert (result.status, result.error) == (2, error)
    if "named" in error:
        assert re.fullmatch("there are bitslice, chacha20, ttable, .*ttable4-shared.*ls-shared.*", result.hint)
    else:
        assert result.hint == (
            "bitslice has ctr and aead of AES and Kuznyechik, chacha20 has aead of its cipher, ttable has ctr, "
            "and the others have ctr of AES or of Kuznyechik")


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_describes_each_command(option):
    text = run("gpuaes-bench", option).out.decode()
    for command in COMMANDS:
        assert f"\n  {command} " in text
        assert run("gpuaes-bench", command, option).out.startswith(f"usage: gpuaes-bench {command}".encode())
