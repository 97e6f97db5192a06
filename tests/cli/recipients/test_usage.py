"""Files are sealed for recipients with -r and -R, and opened with an identity file, which may contain several."""

import os
import pathlib
import re

import pytest

from programs import KEY, OTHER_KEYS, expect_same, keygen, run, secret_file, some_bytes, stream

PLAIN = some_bytes(40000)
SEALED_SIZE = 108 + len(PLAIN) + 3 * 16  # without slots
MIXED = "incompatible recipients: post-quantum ones cannot be combined with others"
ONE_KIND = "use recipients of one kind; with both, a file would be only as safe as the others"


def read(name):
    return pathlib.Path(name).read_bytes()


@pytest.fixture
def files(identities, key):
    """Files to seal and to open, and lists of recipients, which others can read."""
    pathlib.Path("list31").write_bytes(read("recipient0") * 31)
    pathlib.Path("plain").write_bytes(PLAIN)
    secret_file("passphrase", b"correct horse\n")
    return key


@pytest.mark.parametrize("options, slots", [
    ("-r TEXT", 1), ("-R recipient0 -R recipient0 -r @recipient0", 3), ("--recipients-file=list31 -r TEXT", 32),
])
def test_sealed_and_opened(kind, files, options, slots):
    text = read("recipient0").decode().strip()
    sealed = kind.stream("-f", "sealed", *options.replace("TEXT", text).split(), input=PLAIN)
    assert (len(sealed.out), sealed.err) == (SEALED_SIZE + slots * kind.slot_size, "")
    pathlib.Path("all").write_bytes(read("identity1") + b" \t\r\n# another\n   " + read("identity0"))
    os.chmod("all", 0o600)
    for name in ("identity0", "all"):
        opened = kind.stream("-d", "-k", name, input=sealed.out)
        assert opened.err == ""
        expect_same(PLAIN, opened.out)
    kind.stream("--test", "-k", "all", input=sealed.out)


def test_a_file_of_several_identities(kind, files):
    secret_file("several", b"# created: today\n\n" + read("identity0") + b" \t\r\n# the next one\r\n"
                + read("identity1").splitlines()[-1] + b"\n   " + read("identity2"))
    for i in range(4):
        kind.stream("-f", "sealed", "-R", f"recipient{i}", "-i", "plain", "-o", f"sealed{i}")
        result = kind.stream("-d", "-k", "several", "-i", f"sealed{i}", status=0 if i < 3 else 3)
        assert (result.out, result.warnings) == (PLAIN if i < 3 else b"", [])
    assert result.error == "sealed3: none of the given identities opens the input"
    assert result.hint == OTHER_KEYS
    expect_same(PLAIN, kind.stream("-d", "-k", "several", "-k", "identity3", "-i", "sealed3").out)
    os.chmod("several", 0o640)
    opened = kind.stream("-d", "-k", "several", "-i", "sealed0")
    assert (opened.out, opened.warnings) == (PLAIN, ["several is readable by other users; run chmod 600 several"])


@pytest.mark.parametrize("begin", [b"#", b"# a\n", b"\n", b"##AGE-SECRET-KEY-1", b"\n\n#\n\n"])
def test_a_raw_key_that_begins_like_an_identity_file(begin):
    secret_file("raw", (begin + KEY)[:32])
    expect_same(PLAIN, stream("-d", "-k", "raw", input=stream("-q", "-k", "raw", input=PLAIN).out).out)


@pytest.mark.parametrize("kind", ["post-quantum"], indirect=True)
def test_post_quantum_identities(kind, identities):
    created, comment, identity = read("identity0").decode().splitlines()
    recipient = read("recipient0").decode().strip()
    assert re.fullmatch("AGE-SECRET-KEY-PQ-1[02-9AC-HJ-NP-Z]{58}", identity)
    assert re.fullmatch("age1pq1[02-9ac-hj-np-z]{1952}", recipient)
    assert comment == f"# public key: {recipient}" and created.startswith("# created: 20")
    assert read("recipient0") != read("recipient1")
    assert kind.keygen("-y", "identity0").out == read("recipient0")
    x25519 = keygen("--x25519", "-o", "x25519").out
    secret_file("all", read("x25519") + read("identity0") + b"# another one\n" + read("identity1"))
    assert kind.keygen("-y", "all").out == x25519 + read("recipient0") + read("recipient1")
    printed = kind.keygen("--post-quantum")
    assert printed.out.decode().splitlines()[1] == f"# public key: {printed.err.strip()}"


@pytest.mark.parametrize("kind", ["post-quantum"], indirect=True)
def test_kinds_are_never_combined_in_a_file(kind, files):
    pathlib.Path("x25519-recipient").write_bytes(keygen("--x25519", "-o", "x25519").out)
    kind.stream("-f", "sealed", "-R", "recipient0", "-i", "plain", "-o", "sealed")
    for options in ("-R recipient0 -R x25519-recipient", "-R x25519-recipient -R x25519-recipient -R recipient0"):
        for command in ("-i plain -o out", "--rekey -k identity0 -i sealed -o out", "plan -o out"):
            run = kind.parts if "plan" in command else kind.stream
            result = run(*command.split(), *options.split(), status=2)
            assert (result.error, result.hint) == (MIXED, ONE_KIND)
    assert not os.path.exists("out")

    def rekey(old, options, *opening):
        kind.stream("--rekey", "-k", old, *options.split(), "-i", "sealed")
        for name in opening:
            expect_same(PLAIN, kind.stream("-q", "-d", "-k", name, "-i", "sealed").out)

    rekey("identity0", f"-R recipient1 --new-key {files}", "identity1", files)
    assert kind.stream("-d", "-k", "identity0", "-i", "sealed", status=3).error == (
        "sealed: none of the given identities opens the input")
    rekey("identity1", "-R x25519-recipient", "x25519")
    rekey("x25519", "-R recipient0", "identity0")


@pytest.mark.parametrize("program", ["gpuaes-stream", "gpuage"])
@pytest.mark.parametrize("value", ["TWO", "ONE\nONE", "ONE ONE", "# ann\nONE", "ssh-ed25519 AAAA ann ssh-rsa AAAA bob"])
def test_the_value_of_an_option_is_one_recipient(kind, identities, program, value):
    """None is lost silently."""
    one = read("recipient0").decode().strip()
    value = value.replace("TWO", "ssh-ed25519 AAAA ann\nssh-ed25519 BBBB bob").replace("ONE", one)
    found = run(program, "-r", value, input=b"text", status=2 if program == "gpuaes-stream" else 1)
    assert found.error == "the argument of -r is not one recipient"
    assert "-R -" in found.hint or program == "gpuage"  # which has no hints
