"""A plugin that dies, fails, or does not follow the protocol: exit 1 with its name, and nothing is written."""

import functools
import os
import pathlib
import signal
import subprocess
import time

import pytest

import age_plugin
import sealed_format as sf
import ssh_keys
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from processes import A_SECOND, expect_death_by, wait_for
from programs import SANITIZED, secret_file, some_bytes, start, stream

PLAIN = some_bytes(1000)
VIOLATES = "age-plugin-test violates the age plugin protocol: "
HEARD = "messages = hear()\n"
LONG = 70000
make_once = functools.cache(ssh_keys.make)  # RSA keys take long


@pytest.fixture
def sealed(plugin, recipient):
    plugin()
    pathlib.Path("sealed").write_bytes(stream("-r", recipient, input=PLAIN).out)
    return "sealed"


@pytest.fixture(params=["ed25519", 2048])
def key_pair(work, request):
    return ssh_keys.write("ssh", make_once(request.param))


def expect_refused(error, *options, hint="", status=1, **how):
    result = stream(*options, "-o", "out", status=status, **how)
    assert (result.error, result.hint) == (error, hint)
    assert not os.path.exists("out")
    return result


# What both state machines refuse.
BOTH = [
    ("sys.exit(3)", "age-plugin-test failed with exit status 3"),
    ("sys.exit(0)", "age-plugin-test ended before it was done"),
    ("os.close(0); sys.exit(3)", "age-plugin-test failed with exit status 3"),
    ("os.kill(os.getpid(), 9)", "age-plugin-test was killed by signal 9 (Killed)"),
    (HEARD + "sys.exit(1)", "age-plugin-test failed with exit status 1"),
    (HEARD + "os.close(1); os._exit(0)", "age-plugin-test ended before it was done"),
    (HEARD + "os.close(1); time.sleep(1000)", "age-plugin-test ended before it was done"),
    (HEARD + "write('-> done'); sys.exit(1)", "age-plugin-test failed with exit status 1"),
    (HEARD + "write('hello\\n')", VIOLATES + "expected the start of a message"),
    (HEARD + "write('->done\\n\\n')", VIOLATES + "expected the start of a message"),
    (HEARD + "write('\\n')", VIOLATES + "expected the start of a message"),
    (HEARD + "write('-> \\n\\n')", VIOLATES + "an argument is empty or contains an invalid character"),
    (HEARD + "write('-> a  b\\n\\n')", VIOLATES + "an argument is empty or contains an invalid character"),
    (HEARD + "write('-> done\\r\\n\\n')", VIOLATES + "an argument is empty or contains an invalid character"),
    (HEARD + "write('-> \\0\\n\\n')", VIOLATES + "an argument is empty or contains an invalid character"),
    (HEARD + "write('-> \\N{bullet}\\n\\n')", VIOLATES + "an argument is empty or contains an invalid character"),
    (HEARD + "write('-> msg\\nYQ==\\n')", VIOLATES + "the body of a message is not canonical Base64"),
    (HEARD + "write('-> msg\\nYR\\n')", VIOLATES + "the body of a message is not canonical Base64"),
    (HEARD + "write('-> msg\\nY\\n')", VIOLATES + "the body of a message is not canonical Base64"),
    (HEARD + "write('-> msg\\n' + 65 * 'A' + '\\n\\n')", VIOLATES + "the body of a message is not canonical Base64"),
    (HEARD + "write('-> ' + 70000 * 'a' + '\\n\\n')", VIOLATES + "a line is too long"),
    (HEARD + "write('-> msg ' + 70000 * 'a')", VIOLATES + "a line is too long"),
    (HEARD + "send('msg', body=b'x' * 1000000)", VIOLATES + "a message is too long"),
    (HEARD + "while True: write('-> msg\\n' + 20000 * (64 * 'A' + '\\n'))", VIOLATES + "a message is too long"),
    (HEARD + "while True: ask('grease', body=b'x' * 500000)", VIOLATES + "it sent more than 16 MiB"),
    (HEARD + "while True: ask('grease')", VIOLATES + "it sent more than 4096 messages"),
    (HEARD + "ask('grease', *1024 * 'a')", VIOLATES + "a message has too many arguments"),
    (HEARD + "ask('confirm', body='?')", VIOLATES + "a confirmation needs one or two choices"),
    (HEARD + "ask('confirm', 'YQ', 'YQ', 'YQ', body='?')", VIOLATES + "a confirmation needs one or two choices"),
    (HEARD + "ask('confirm', 'Y', body='?')", VIOLATES + "a choice of a confirmation is not canonical Base64"),
    (HEARD + "record(ask('error', 'internal', body='no card')[0])", 'age-plugin-test reports "no card"'),
    (HEARD + "ask('error', 'identity', '0', body='')", 'age-plugin-test reports ""'),
    (HEARD + "ask('error', 'internal', body='a\\nb\\x1b[2J\\x07\\x9b0m\\r')",
     'age-plugin-test reports "a b?[2J??0m?"'),
    (HEARD + "ask('error', 'internal', body='x' * 5000)", f'age-plugin-test reports "{2000 * "x"}..."'),
    (HEARD + "ask('error', 'internal', body='x' + 5000 * '\u00e9')", f'age-plugin-test reports "x{1000 * "é"}..."'),
    # An error that was sent without reading anything is reported, not the closed pipe.
    ("send('error', 'internal', body='no card'); os.close(0); sys.exit(0)", 'age-plugin-test reports "no card"'),
]


@pytest.mark.parametrize("code, error", BOTH)
def test_to_encrypt(plugin, recipient, code, error):
    plugin(code)
    expect_refused(error, "-r", recipient, input=PLAIN)


@pytest.mark.parametrize("code, error", BOTH)
def test_to_decrypt(plugin, sealed, identity, code, error):
    plugin(code)
    expect_refused(error, "-d", "-k", identity, sealed)


@pytest.mark.parametrize("code, error", [
    ("send('done')", "it did not wrap the file key"),
    ("ask('recipient-stanza')", "it sent a stanza without a type"),
    ("ask('recipient-stanza', '0')", "it sent a stanza without a type"),
    ("ask('recipient-stanza', '1', 'test')", "it sent a stanza for another file key"),
    ("ask('recipient-stanza', '-0', 'test')", "it sent a stanza for another file key"),
    ("ask('recipient-stanza', '00', 'test')", "it sent a stanza for another file key"),
    ("ask('recipient-stanza', 'test', '0')", "it sent a stanza for another file key"),
    ("ask('labels', 'a'); ask('labels', 'a')", "it sent labels twice"),
    ("ask('labels'); ask('labels')", "it sent labels twice"),
    ("ask('labels', 'a', 'b', 'a')", "it repeated a label"),
])  # fmt: skip
def test_results_that_are_not_stanzas(plugin, recipient, code, error):
    plugin(HEARD + code)
    expect_refused(VIOLATES + error, "-r", recipient, input=PLAIN)


@pytest.mark.parametrize("code, error", [
    ("ask('file-key', body=b'k' * 16)", "it sent a file key for another file"),
    ("ask('file-key', '1', body=b'k' * 16)", "it sent a file key for another file"),
    ("ask('file-key', '00', body=b'k' * 16)", "it sent a file key for another file"),
    ("ask('file-key', '0', '0', body=b'k' * 16)", "it sent a file key for another file"),
    ("ask('file-key', '0', body=b'k' * 15)", "it sent a file key of 15 bytes instead of 16"),
    ("ask('file-key', '0', body=b'k' * 32)", "it sent a file key of 32 bytes instead of 16"),
    ("ask('file-key', '0')", "it sent a file key of 0 bytes instead of 16"),
    ("unwrap(messages); unwrap(messages)", "it sent a second file key"),
])  # fmt: skip
def test_results_that_are_not_a_file_key(plugin, sealed, identity, code, error):
    plugin(HEARD + code)
    expect_refused(VIOLATES + error, "-d", "-k", identity, sealed)


def test_a_wrong_file_key(plugin, sealed, identity):
    plugin(HEARD + "ask('file-key', '0', body=b'k' * 16); send('done')")
    error = stream("-d", "-k", identity, sealed, status=4).error
    assert error.endswith("the header or its MAC was modified, or the plugin test returned a wrong file key; nothing was "
                          "written")  # fmt: skip


def test_other_keys_are_tried_after_a_wrong_file_key(plugin, folder, sealed, identity):
    age_plugin.install(folder, "wrong", HEARD + "ask('file-key', '0', body=b'k' * 16); send('done')")
    text = sf.to_text("AGE-PLUGIN-WRONG-", b"") + "\n"
    both = secret_file("both", text.encode() + pathlib.Path(identity).read_bytes())
    assert stream("-d", "-k", both, sealed).out == PLAIN


@pytest.mark.parametrize("arguments, error", [
    ("'X25519'", "the plugin test made a malformed X25519 stanza"),
    ("'p256tag', 'AAAAAA', 'AAAA'", "the plugin test made a malformed p256tag stanza"),
    ("'ssh-ed25519', 'AAAAAA', 'AAAA'", "the plugin test made a malformed ssh-ed25519 stanza"),
    ("'scrypt', 'AAAAAAAAAAAAAAAAAAAAAA', '30'", "the plugin test made a malformed scrypt stanza"),
])  # fmt: skip
def test_stanzas_that_would_make_the_file_unreadable(plugin, recipient, arguments, error):
    plugin(HEARD + f"ask('recipient-stanza', '0', {arguments}, body=bytes(32)); send('done')")
    expect_refused(error, "-r", recipient, input=PLAIN)


def test_a_passphrase_stanza_must_be_alone(plugin, recipient):
    scrypt = "ask('recipient-stanza', '0', 'scrypt', 'AAAAAAAAAAAAAAAAAAAAAA', '18', body=bytes(32)); "
    plugin(HEARD + scrypt + "send('done')")
    made = stream("-r", recipient, input=PLAIN).out
    assert made.splitlines()[1] == b"-> scrypt AAAAAAAAAAAAAAAAAAAAAA 18"
    plugin(HEARD + scrypt + scrypt + "send('done')")
    expect_refused("incompatible recipients: the plugin test made a scrypt stanza, which must be alone in a file", "-r", recipient, input=PLAIN)


# X25519: 0, 1, a point of order 8, and p + 1, which is another encoding of 1.
LOW_ORDER = [bytes(32), b"\1" + bytes(31),
             bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
             b"\xee" + 30 * b"\xff" + b"\x7f"]  # fmt: skip
OFF_CURVE = [bytes(65), b"\4" + bytes(64)]
ML_KEM = bytes(1088)
BAD_SHARES = [(arguments, share) for arguments, shares in (
    (["X25519"], LOW_ORDER),
    (["ssh-ed25519", "AAAAAA"], LOW_ORDER),
    (["mlkem768x25519"], [ML_KEM + point for point in LOW_ORDER]),
    (["p256tag", "AAAAAA"], OFF_CURVE),
    (["mlkem768p256tag", "AAAAAA"], [ML_KEM + point for point in OFF_CURVE]),
) for share in shares]  # fmt: skip


def ec_point():
    public = ec.generate_private_key(ec.SECP256R1()).public_key()
    return public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def stanza_with(arguments, share):
    return HEARD + f"ask('recipient-stanza', '0', *{arguments}, encode({share}), body=bytes(32)); send('done')"


@pytest.mark.parametrize("arguments, share", BAD_SHARES, ids=[arguments[0] for arguments, _ in BAD_SHARES])
def test_shares_that_a_reader_would_refuse(plugin, recipient, arguments, share):
    plugin(stanza_with(arguments, share))
    expect_refused(f"the plugin test made a malformed {arguments[0]} stanza", "-r", recipient, input=PLAIN)


@pytest.mark.parametrize("arguments, before", [
    (["X25519"], b""), (["ssh-ed25519", "AAAAAA"], b""), (["mlkem768x25519"], ML_KEM),
    (["p256tag", "AAAAAA"], b""), (["mlkem768p256tag", "AAAAAA"], ML_KEM),
], ids=["x25519", "ssh", "xwing", "p256", "ml_kem_p256"])  # fmt: skip
def test_shares_that_a_reader_accepts(plugin, recipient, key_pair, arguments, before):
    point = ec_point() if "p256" in arguments[0] else sf.public_key(bytes(range(32)))
    plugin(stanza_with(arguments, before + point))
    sealed = stream("-r", recipient, "-R", f"{key_pair.name}.pub", input=PLAIN).out
    assert stream("-d", "-k", key_pair.name, input=sealed).out == PLAIN


@pytest.mark.parametrize("order", [["plugin", "ssh"], ["ssh", "plugin"]])
def test_more_stanzas_with_the_tag_of_an_ssh_key_than_are_tried(plugin, recipient, key_pair, order):
    (kind, tag, *share), body = ssh_keys.stanza(bytes(16), key_pair.text)
    body = body[:-1] + bytes([body[-1] ^ 1])
    options = {"plugin": ["-r", recipient], "ssh": ["-R", "ssh.pub"]}
    arguments = [word for each in order for word in options[each]]
    for count in 15, 16:
        plugin(f"{HEARD}\nfor _ in range({count}): ask('recipient-stanza', '0', *{[kind, tag, *share]}, body={body})\n"
               "ask('recipient-stanza', '0', 'ssh-rsa', 'AAAAAA', body=bytes(256))\nsend('done')")
        if count == 15:
            assert stream("-d", "-k", "ssh", input=stream(*arguments, input=PLAIN).out).out == PLAIN
    expect_refused(f"the plugin test made too many {kind} stanzas with the tag {tag}; a file has at most 16", *arguments,
                   input=PLAIN)  # fmt: skip


def test_any_number_of_stanzas_without_a_plugin_for_one_ssh_key(plugin, recipient, key_pair):
    plugin()
    sealed = stream("-r", recipient, *20 * ["-R", "ssh.pub"], input=PLAIN).out
    assert stream("-d", "-k", "ssh", input=sealed).out == PLAIN


def test_a_process_that_the_plugin_leaves_behind(plugin, recipient):
    plugin(HEARD + "os.fork() or [os.close(2), time.sleep(20)]\nos._exit(0)")
    expect_refused("age-plugin-test ended before it was done", "-r", recipient, input=PLAIN)


@pytest.mark.parametrize("stanza, count, error", [
    ("'test'", 1025, "the plugin test made too many stanzas; a file has at most 1024"),
    ("'test'", 513, "the plugin test made too many stanzas; a file has at most 1024"),
    ("*65 * ['test']", 1, "the plugin test made a stanza with 65 arguments; at most 64 are allowed"),
    ("'test', body=bytes(700_000)", 9, "the plugin test made stanzas that are too long; a header has at most 16 MiB"),
])  # fmt: skip
def test_stanzas_that_a_reader_would_refuse(plugin, recipient, stanza, count, error):
    """They are for two recipients, before and after one that needs no plugin."""
    plugin(HEARD + f"[ask('recipient-stanza', '0', {stanza}) for _ in range({count})]; send('done')")
    x25519 = sf.to_text("age", sf.public_key(bytes(range(32))))
    for order in [recipient, recipient, x25519], [x25519, recipient, recipient]:
        expect_refused(error, *(word for each in order for word in ("-r", each)), input=PLAIN)


def test_stanzas_that_a_reader_accepts(plugin, recipient, identity):
    for stanza, count in ("'a'", 1023), ("*64 * ['a']", 1), ("'a', body=bytes(700_000)", 16):
        plugin(f"""{HEARD}
if MACHINE == "recipient-v1": [ask("recipient-stanza", "0", {stanza}) for _ in range({count})]
{{"recipient-v1": wrap, "identity-v1": unwrap}}[MACHINE](messages)
send("done")""")
        assert stream("-d", "-k", identity, input=stream("-r", recipient, input=PLAIN).out).out == PLAIN


def test_no_file_key(plugin, sealed, identity):
    plugin(HEARD + "send('done')")
    result = stream("-d", "-k", identity, sealed, status=3)
    assert result.error == f"{sealed}: none of the given secrets opens the input, which has stanzas of type test"


@pytest.mark.parametrize("code", [
    "signal.signal(signal.SIGINT, signal.SIG_IGN)\nserve()\ntime.sleep(1000)",
    "serve()\ntime.sleep(1000)",
    "serve()\nos.kill(os.getpid(), signal.SIGSTOP)",
    "serve()\nsys.exit(1)",
    "serve()\nwhile True: write('x' * 1000)",
])  # fmt: skip
def test_after_it_is_done(plugin, recipient, identity, code):
    """It is ended if it does not end itself, and its exit status does not matter."""
    plugin("record(os.getpid())\n" + code)
    begin = time.monotonic()
    made = stream("-r", recipient, input=PLAIN).out
    assert stream("-d", "-k", identity, input=made, status=0).out == PLAIN
    assert time.monotonic() - begin < 4 * A_SECOND
    for pid in map(int, pathlib.Path("seen").read_text().split()):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_gets_sigint_before_it_is_killed(plugin, recipient):
    plugin("""
def note(*_):
    record("interrupted")
    sys.exit(0)
signal.signal(signal.SIGINT, note)
serve()
time.sleep(1000)""")
    stream("-r", recipient, input=PLAIN)
    assert pathlib.Path("seen").read_text() == '"interrupted"\n'


@pytest.mark.skipif(SANITIZED, reason="is slow")
def test_waits_and_says_so(plugin, recipient, identity):
    plugin(HEARD + "time.sleep(5.5)\nwrap(messages)\nsend('done')")
    result = stream("-r", recipient, input=PLAIN)
    assert result.notes == ["waiting for age-plugin-test"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_wait(plugin, sealed, identity, number):
    plugin(HEARD + "record(os.getpid())\ntime.sleep(1000)")
    child = start("gpuaes-stream", "-d", "-k", identity, sealed, "-o", "out", stderr=subprocess.PIPE)
    pid = int(wait_for(lambda: os.path.exists("seen") and pathlib.Path("seen").read_text(), "the plugin waits"))
    expect_death_by(child, number)
    assert child.stderr.read() == b"" and not os.path.exists("out")
    with pytest.raises(ProcessLookupError):
        wait_for(lambda: os.kill(pid, 0), "the plugin ends")


@pytest.mark.parametrize("options", [["-d"], ["-e"]])
def test_a_signal_to_both_is_no_failure_of_the_plugin(plugin, sealed, identity, options):
    plugin(HEARD + "record('waits')\ntime.sleep(1000)")
    for _ in range(5):
        child = start("gpuaes-stream", *options, "-k", identity, sealed, stderr=subprocess.PIPE, start_new_session=True)
        wait_for(lambda: os.path.exists("seen"), "the plugin waits")
        os.killpg(child.pid, signal.SIGINT)
        assert (child.wait(A_SECOND), child.stderr.read()) == (-signal.SIGINT, b"")
        os.unlink("seen")


def test_a_plugin_that_asks_very_often_gets_answers(plugin, recipient):
    plugin("serve(lambda: [record(ask('request-public', body='?')[0]) for _ in range(20)])")
    result = stream("-r", recipient, input=PLAIN, start_new_session=True)
    assert result.warnings == ['age-plugin-test asks "?", but there is no terminal'] * 20
    assert pathlib.Path("seen").read_text() == '["fail"]\n' * 20
