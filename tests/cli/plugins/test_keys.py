"""Plugins next to other keys: labels, the order in which keys are tried, and formats that have no plugins."""

import pathlib

import pytest

import age_format as age
import age_plugin
from age_plugin import recorded
from programs import keygen, run, secret_file, some_bytes, stream
from terminals import at_terminal

PLAIN = some_bytes(1000)
FAILS = "record(MACHINE)\nsys.exit(1)"
FAILED = "age-plugin-test failed with exit status 1"
WORDS = b"correct horse\n"
COMBINED = "incompatible recipients: one has {}, another has {}"
SAME_LABELS = "only recipients with the same labels can be combined; a plugin chooses the labels of its recipients"

def with_labels(*labels):
    return f"serve(lambda: MACHINE == 'recipient-v1' and ask('labels', *{list(labels)}))"


@pytest.fixture
def ours(work):
    """The name of an X25519 identity file, for age.RECIPIENT."""
    return secret_file(work.parent / "ours", (age.identity_text() + "\n").encode())


@pytest.fixture
def words(work):
    return secret_file(work.parent / "words", WORDS)


# --- Labels --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("one, other, error", [
    ([], [], None),
    (["a"], ["a"], None),
    (["b", "a"], ["a", "b"], None),
    (["a"], [], COMBINED.format("the label a", "no labels")),
    ([], ["a"], COMBINED.format("no labels", "the label a")),
    (["a"], ["a", "b"], COMBINED.format("the label a", "the labels a, b")),
    (["postquantum"], ["a"], COMBINED.format("the label postquantum", "the label a")),
])  # fmt: skip
def test_labels_of_two_plugins(folder, one, other, error):
    age_plugin.install(folder, "one", with_labels(*one))
    age_plugin.install(folder, "two", with_labels(*other))
    result = stream("-j", "one", "-j", "two", "-o", "out", input=PLAIN, status=2 if error else 0)
    assert (result.error, result.hint) == ((error, SAME_LABELS) if error else ("", ""))
    assert pathlib.Path("out").exists() == (error is None)


def test_labels_of_native_recipients(plugin, recipient, ml_kem):
    post_quantum = keygen("--post-quantum", "-o", "pq", wrap=ml_kem).out.decode().strip()
    for labels, good, bad in ([], age.recipient_text(), post_quantum), (["postquantum"], post_quantum, None):
        plugin(with_labels(*labels))
        stream("-r", recipient, "-r", good, input=PLAIN, wrap=ml_kem)
        if bad:
            error = stream("-r", bad, "-r", recipient, input=PLAIN, wrap=ml_kem, status=2).error
            assert error == COMBINED.format("the label postquantum", "no labels")
    error = stream("-r", age.recipient_text(), "-r", recipient, input=PLAIN, status=2).error
    assert error == COMBINED.format("no labels", "the label postquantum")


# --- Order ---------------------------------------------------------------------------------------------------------

def test_native_keys_are_tried_first(plugin, recipient, identity, ours):
    plugin()
    made = stream("-r", recipient, "-r", age.recipient_text(), input=PLAIN).out
    plugin(FAILS)
    for options in ["-k", identity, "-k", ours], ["-k", ours, "-j", "test"]:
        assert stream("-d", *options, input=made).out == PLAIN
    assert recorded() == []


def test_failures_are_reported_after_everything_else(folder, plugin, recipient, identity, words):
    plugin()
    made = stream("-r", recipient, input=PLAIN).out
    age_plugin.install(folder, "broken", FAILS)
    for options in ["-j", "broken", "-k", identity], ["-j", "missing", "-k", identity]:
        assert stream("-d", *options, input=made).out == PLAIN
    plugin("hear(); send('done')")
    assert stream("-d", "-j", "broken", "-k", identity, input=made, status=1).error == FAILED.replace("test", "broken")
    assert stream("-d", "-k", identity, "-j", "missing", "-j", "broken", input=made,
                  status=1).error == "age-plugin-missing is not installed"
    protected = stream("-f", "age", "--passphrase-file", words, input=PLAIN).out
    assert stream("-d", "-j", "broken", "--passphrase-file", words, input=protected).out == PLAIN
    assert "age-plugin-broken failed with exit status 1" in stream("-d", "-v", "-j", "broken", "--passphrase-file", words,
                                                                   input=protected).notes


def test_a_prompt_comes_last(plugin, words):
    protected = stream("-f", "age", "--passphrase-file", words, input=PLAIN).out
    plugin("record(MACHINE)\nhear()\nsend('done')")
    result, lines = at_terminal("-d", "-p", "-j", "test", input=protected, answers=[WORDS.decode().strip()])
    assert (result.out, lines, recorded()) == (PLAIN, ["Enter passphrase:"], ["identity-v1"])


def test_a_plugin_can_open_a_file_with_a_passphrase(plugin, words):
    """As age-plugin-batchpass does."""
    made = age.seal(PLAIN, [age.scrypt_stanza(bytes(16), b"correct horse")], file_key=bytes(16))
    plugin("messages = hear()\nrecord(messages[2][0][:3])\nask('file-key', '0', body=bytes(16))\nsend('done')")
    assert stream("-d", "-j", "test", input=made).out == PLAIN
    assert recorded() == [["recipient-stanza", "0", "scrypt"]]
    plugin("hear()\nsend('done')")
    error = stream("-d", "-j", "test", input=made, status=3).error
    assert error == "none of the given secrets opens the input, which has stanzas of type scrypt"
    plugin("hear()\nask('file-key', '0', body=bytes(16))\nsend('done')")
    mixed = age.seal(PLAIN, [age.scrypt_stanza(bytes(16), b"correct horse"), age.x25519_stanza(bytes(16))],
                     file_key=bytes(16))
    assert "a scrypt stanza must be the only one" in stream("-d", "-j", "test", input=mixed, status=4).error


def test_a_wrong_mac_while_salvaging(plugin, ours):
    head = age.header(bytes(16), [age.x25519_stanza(bytes(16))], mac=bytes(32))
    made = head + bytes(16) + b"".join(age.segments(bytes(16), bytes(16), PLAIN))
    plugin("record(MACHINE)\nhear()\nask('file-key', '0', body=bytes(16))\nsend('done')")
    for options in ["-j", "test"], ["-k", ours]:
        assert stream("--salvage", *options, input=made, status=4).out == PLAIN


def test_several_files_with_new_keys(plugin, recipient, identity, ours):
    """A plugin as the old or the new secret of each."""
    plugin()
    names = [f"{number}.age" for number in range(3)]
    for name in names:
        stream("-r", recipient, "-o", name, input=name.encode())
    for old, new, opens in (identity, age.recipient_text(), ours), (ours, recipient, identity):
        stream("--rekey", "-k", old, "-r", new, *names)
        for name in names:
            assert stream("-d", "-k", opens, name).out == name.encode()


# --- What has no plugins -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("options", [["-k", "KEY"], ["-f", "sealed"], ["-f", "sealed", "-k", "KEY"]])
def test_the_sealed_format_has_none(plugin, recipient, key, options):
    plugin(FAILS)
    words = [key if word == "KEY" else word for word in options]
    for way in ["-r", recipient], ["-j", "test"]:
        result = stream(*words, *way, input=PLAIN, status=2)
        assert result.error == "the sealed format does not accept SSH, hardware or plugin recipients"
    stream(*words, "-e", "-k", key, "-r", age.recipient_text(), "-o", "sealed", input=PLAIN)
    stream("--rekey", "-k", key, "-r", recipient, "sealed", status=2)
    assert recorded() == []


def test_sealed_files_are_opened_with_the_other_identities(plugin, key, identity, ours):
    plugin(FAILS)
    sealed = stream("-k", key, "-r", age.recipient_text(), input=PLAIN).out
    mixed = secret_file("mixed", (pathlib.Path(identity).read_text() + age.identity_text() + "\n").encode())
    assert stream("-d", "-k", mixed, input=sealed).out == PLAIN
    assert stream("-d", "-k", identity, input=sealed, status=3).error
    assert recorded() == []


@pytest.mark.parametrize("options", [
    ["-p", "-r", "RECIPIENT"], ["--passphrase-file", "WORDS", "-j", "test"], ["-f", "age", "-k", "KEY", "-j", "test"],
    ["-f", "raw", "--iv", "0" * 32, "-j", "test"], ["-f", "openssl", "-j", "test"], ["-k", "IDENTITY"],
    ["-f", "cobblestone", "-k", "KEY", "-r", "RECIPIENT"],
])  # fmt: skip
def test_what_cannot_be_combined(plugin, recipient, identity, key, words, options):
    plugin(FAILS)
    names = {"RECIPIENT": recipient, "IDENTITY": identity, "KEY": key, "WORDS": words}
    stream(*(names.get(word, word) for word in options), input=PLAIN, status=2)
    assert recorded() == []


TAKES_TURNS = """
os.mkdir(f"{HERE}/busy")  # fails while another one runs
time.sleep(0.1)
serve()
os.rmdir(f"{HERE}/busy")
"""


def test_an_identity_in_an_encrypted_file_opens_several_inputs_in_turn(plugin, recipient, identity):
    plugin(TAKES_TURNS)
    for name in "abc":
        stream("-r", recipient, "-o", f"{name}.age", input=PLAIN)
    file_key = bytes(range(16))
    pathlib.Path("encrypted").write_bytes(
        age.seal(pathlib.Path(identity).read_bytes(), [age.scrypt_stanza(file_key, b"two words")], file_key))
    at_terminal("-d", "-k", "encrypted", "--output-dir", "out", "a.age", "b.age", "c.age", answers=["two words"])
    assert [pathlib.Path("out", name).read_bytes() for name in "abc"] == [PLAIN] * 3


def test_keygen_prints_no_recipient_of_a_plugin(plugin, identity):
    plugin(FAILS)
    message = f"{identity} contains an identity of age-plugin-test, and only that program knows its recipient"
    assert keygen("-y", identity, status=2).error == f"--recipient: {message}"
    assert run("gpuage-keygen", "-y", identity, status=1).error == message
    assert recorded() == []
