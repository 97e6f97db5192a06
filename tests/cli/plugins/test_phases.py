"""Recipients and identities of a plugin that does what the specification says."""

import pathlib

import pytest

import age_format as age
import age_plugin
from age_plugin import DATA, recorded
from programs import flipped, keygen, secret_file, some_bytes, stream
from sealed_format import to_text

PLAIN = some_bytes(1000)
LOG = """
messages = []
def log_and_hear():
    messages.extend(original())
    record([MACHINE, os.getcwd(), [arguments for arguments, _ in messages], [len(body) for _, body in messages]])
    return messages
import age_plugin
original, age_plugin.hear = age_plugin.hear, log_and_hear
serve()
"""


def native(name):
    recipient = keygen("--x25519", "-o", name).out.decode().strip()
    return recipient


def test_recipient_and_identity(plugin, recipient, identity):
    plugin()
    pathlib.Path("list").write_text(f"# one\n{recipient}\n")
    for options in ["-r", recipient], ["-R", "list"], ["-e", "-k", identity]:
        made = stream(*options, input=PLAIN).out
        assert made.startswith(b"age-encryption.org/v1\n-> test ")
        assert stream("-d", "-k", identity, input=made).out == PLAIN
        stream("-t", "-k", identity, input=made)


def test_uppercase_recipient(plugin, recipient, identity):
    plugin()
    assert stream("-d", "-k", identity, input=stream("-r", recipient.upper(), input=PLAIN).out).out == PLAIN


@pytest.mark.parametrize("option", ["-j", "--plugin"])
def test_without_data(plugin, option):
    plugin(LOG)
    for name in "test", "TEST":
        assert stream("-d", option, name, input=stream(option, name, input=PLAIN).out).out == PLAIN
    empty = to_text("AGE-PLUGIN-TEST-", b"")
    for _, _, arguments, _ in recorded():
        assert arguments[0] == ["add-identity", empty]


def test_messages_of_the_first_phase(plugin, recipient, identity):
    plugin(LOG)
    ours = native("ours")
    made = stream("-r", recipient, "-r", ours, input=PLAIN).out
    stream("-d", "-k", identity, input=made)
    (machine, folder, sent, sizes), (opened, _, stanzas, _) = recorded()
    assert (machine, opened, folder) == ("recipient-v1", "identity-v1", "/")
    assert sent[0] == ["add-recipient", recipient]
    assert sent[1][0].startswith("grease-") and sizes[1] == 8
    assert sent[2:] == [["wrap-file-key"], ["extension-labels"]] and sizes[2:] == [16, 0]
    assert stanzas[0] == ["add-identity", to_text("AGE-PLUGIN-TEST-", DATA)] and stanzas[1][0].startswith("grease-")
    assert [each[:3] for each in stanzas[2:]] == [["recipient-stanza", "0", kind] for kind in ("test", "X25519")]


def test_grease_differs(plugin, recipient):
    plugin(LOG)
    for _ in range(2):
        stream("-r", recipient, input=PLAIN)
    assert recorded()[0][2][1] != recorded()[1][2][1]


def test_replies_to_what_the_specification_does_not_have(plugin, recipient, identity):
    plugin("serve(lambda: record([ask('grease-1', 'a', 'b', body='x' * 200)[0], ask('labels-2')[0],"
           " ask('msg', body='hello')[0]]))")
    made = stream("-r", recipient, input=PLAIN)
    opened = stream("-d", "-k", identity, input=made.out)
    assert opened.out == PLAIN
    assert recorded() == [[["unsupported"], ["unsupported"], ["ok"]]] * 2
    assert made.notes == opened.notes == ['age-plugin-test says "hello"']


def test_several_stanzas_of_one_recipient(plugin, recipient, identity):
    plugin("""
messages = hear()
if MACHINE == "recipient-v1":
    for size in 0, 47, 48, 49, 3000:
        ask("recipient-stanza", "0", "other", str(size), body=b"x" * size)
    wrap(messages)
else:
    record([[arguments[3], len(body)] for arguments, body in messages if arguments[2:3] == ["other"]])
    unwrap(messages)
send("done")""")
    made = stream("-r", recipient, input=PLAIN).out
    assert stream("-d", "-k", identity, input=made).out == PLAIN
    assert recorded() == [[[str(size), size] for size in (0, 47, 48, 49, 3000)]]


def test_identities_of_several_kinds_in_one_file(plugin, recipient, identity):
    plugin()
    ours = native("ours")
    text = pathlib.Path(identity).read_text() + pathlib.Path("ours").read_text()
    mixed = secret_file("mixed", text.encode())
    for options in ["-r", recipient], ["-r", ours], ["-r", recipient, "-r", ours], ["-e", "-k", mixed]:
        assert stream("-d", "-k", mixed, input=stream(*options, input=PLAIN).out).out == PLAIN


def test_python_reads_the_native_stanza_next_to_that_of_a_plugin(plugin, recipient):
    plugin()
    assert age.open_age(stream("-r", recipient, "-r", age.recipient_text(), input=PLAIN).out) == PLAIN


def test_rekey(plugin, folder, recipient, identity):
    plugin()
    age_plugin.install(folder, "more")
    stream("-r", native("ours"), "-o", "file", input=PLAIN)
    stream("--rekey", "-k", "ours", "-r", recipient, "file")
    stream("-d", "-k", "ours", "file", status=3)
    assert stream("-d", "-k", identity, "file").out == PLAIN
    stream("--rekey", "-k", identity, "-j", "more", "file")
    assert stream("-d", "-j", "more", "file").out == PLAIN
    stream("--rekey", "-k", identity, "-r", native("new"), "file", status=3)


def test_range_salvage_and_part(plugin, recipient, identity):
    plugin()
    plain = some_bytes(200000)
    stream("-r", recipient, "-o", "file", input=plain)
    assert stream("--range", "70000:10", "-k", identity, "file").out == plain[70000:70010]
    assert stream("--share", "0/1", "-k", identity, "file").out == plain
    assert stream("--salvage", "-k", identity, input=flipped(pathlib.Path("file").read_bytes(), -1), status=4).out
