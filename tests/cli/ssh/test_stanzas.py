"""Files encrypted for ssh keys, against an independent implementation."""

import json
import pathlib
import re
import shutil
import subprocess

import pytest

import age_format as age
import ssh_keys
from programs import expect_same, keygen, some_bytes, stream

PLAIN, FILE_KEY = some_bytes(100000), bytes(range(16))


def file(*stanzas):
    return age.seal(PLAIN, list(stanzas), FILE_KEY)


def test_it_opens_what_others_write(each):
    for stanzas in ([ssh_keys.stanza(FILE_KEY, each.text)],
                    [age.x25519_stanza(FILE_KEY), ssh_keys.stanza(FILE_KEY, each.text)]):
        expect_same(PLAIN, stream("-d", "-k", each.name, input=file(*stanzas)).out)


def test_both_ways(each):
    for options in ["-r", each.text], ["-r", each.text + " me"], ["-R", f"{each.name}.pub"], ["-e", "-k", each.name]:
        made = stream(*options, input=PLAIN)
        assert made.err == ""
        expect_same(PLAIN, stream("-d", "-k", each.name, input=made.out).out)
        assert made.out.splitlines()[1].decode().startswith(f"-> {each.text.split()[0]} {ssh_keys.tag(each.text)}")


def test_rsa_stanzas_are_what_others_read(rsa):
    head, _, rest = stream("-r", rsa.text, input=PLAIN).out.partition(b"\n--- ")
    body = ssh_keys.base64.b64decode(b"".join(head.splitlines()[2:]) + b"==")
    expect_same(PLAIN, age.open_payload(rsa.key.decrypt(body, ssh_keys.oaep()), rest[44:]))


def test_larger_rsa_keys():
    key = ssh_keys.write("larger", ssh_keys.make(4096))
    expect_same(PLAIN, stream("-d", "-k", "larger", input=file(ssh_keys.stanza(FILE_KEY, key.text))).out)
    expect_same(PLAIN, stream("-d", "-k", "larger", input=stream("-r", key.text, input=PLAIN).out).out)


def test_together_with_other_recipients(ed25519, rsa):
    recipient = keygen("--x25519", "-o", "identity").out.decode().strip()
    made = stream("-r", recipient, "-R", "ed25519.pub", "-R", "rsa.pub", input=PLAIN).out
    for name in "identity", "ed25519", "rsa":
        expect_same(PLAIN, stream("-d", "-k", name, input=made).out)
    expect_same(PLAIN, stream("-d", *"-k identity -k rsa -k ed25519".split(), input=made).out)


def test_other_modes(each):
    pathlib.Path("plain").write_bytes(PLAIN)
    stream("-r", each.text, "plain", "-o", "made")
    stream("--test", "-k", each.name, "made")
    assert stream("-d", "--range", "70000:10", "-k", each.name, "made").out == PLAIN[70000:70010]
    recipient = keygen("--x25519", "-o", "identity").out.decode().strip()
    stream("--rekey", "-k", each.name, "-r", recipient, "made")
    expect_same(PLAIN, stream("-d", "-k", "identity", "made").out)
    stream("--rekey", "-k", "identity", "-R", f"{each.name}.pub", "made")
    expect_same(PLAIN, stream("-d", "-k", each.name, "made").out)


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed")
def test_info_shows_the_beginning_of_the_fingerprint(each):
    printed = subprocess.run(["ssh-keygen", "-l", "-f", f"{each.name}.pub"], capture_output=True, text=True).stdout
    made = stream("-r", each.text, input=PLAIN).out
    shown = re.search(r"stanza 1 +(\S+), fingerprint (SHA256:\S{5})\.\.\.\n", stream("--info", input=made).out.decode())
    assert shown[1] == each.text.split()[0] and shown[2] in printed
    slot, = json.loads(stream("--info", "--json", input=made).out)["slots"]
    assert (slot["kind"], slot["fingerprint"]) == (shown[1], shown[2])


def test_info_shows_no_fingerprint_for_a_malformed_tag(each):
    (kind, _, *rest), body = ssh_keys.stanza(FILE_KEY, each.text)
    for tag in "AAAA", "AAAAAAA", "AAAAA", "????":
        slot, = json.loads(stream("--info", "--json", input=file(((kind, tag, *rest), body))).out)["slots"]
        assert slot["kind"] == kind and "fingerprint" not in slot


# --- What does not open --------------------------------------------------------------------------------------------


def test_the_wrong_key(ed25519, rsa):
    other = ssh_keys.write("other", ssh_keys.make("ed25519"))
    for stanza, name, error in (
        (ssh_keys.stanza(FILE_KEY, other.text), "ed25519",
         "none of the given identities opens the input, which has stanzas of type ssh-ed25519"),
        (ssh_keys.stanza(FILE_KEY, other.text), "rsa",
         "the input was encrypted for an ssh-ed25519 key, and no such key was given"),
        (ssh_keys.stanza(FILE_KEY, rsa.text), "ed25519",
         "the input was encrypted for an ssh-rsa key, and no such key was given"),
    ):
        assert error in stream("-d", "-k", name, input=file(stanza), status=3).error


def expect_error(status, error, name, *stanzas):
    result = stream("-q", "-d", "-k", name, input=file(*stanzas), status=status)
    assert error in result.error and result.out == b""


def test_only_stanzas_with_the_fingerprint_are_tried(each):
    (kind, _, *share), body = ssh_keys.stanza(FILE_KEY, each.text)
    expect_error(3, f"which has stanzas of type {kind}", each.name, ([kind, "AAAAAA", *share], body))


def test_16_stanzas_with_the_tag_of_a_key_are_tried(each):
    good = ssh_keys.stanza(FILE_KEY, each.text)
    (kind, tag, *share), body = good
    wrong, other = ([kind, tag, *share], body[:-1] + bytes([body[-1] ^ 1])), ([kind, "AAAAAA", *share], body)
    expect_same(PLAIN, stream("-d", "-k", each.name, input=file(*20 * [other], *15 * [wrong], good)).out)
    error = f"none of the given identities opens the input, which has stanzas of type {kind}"
    for more in [good], 1008 * [wrong]:
        expect_error(3, f"{error}; only the first 16 of {16 + len(more)} stanzas with the tag of an SSH key were tried",
                     each.name, *16 * [wrong], *more)  # fmt: skip
    assert stream("-d", "-k", each.name, input=file(*20 * [other], *16 * [wrong]), status=3).error == error


def test_a_larger_rsa_key_of_another_recipient(rsa):
    larger = ["ssh-rsa", "AAAAAA"], bytes(16384 // 8)
    expect_same(PLAIN, stream("-d", "-k", "rsa", input=file(larger, ssh_keys.stanza(FILE_KEY, rsa.text))).out)


def test_tampered_stanzas(each):
    (kind, tag, *share), body = ssh_keys.stanza(FILE_KEY, each.text)
    flipped = bytes([body[0] ^ 1]) + body[1:]
    expect_error(3, "none of the given identities opens the input", each.name, ([kind, tag, *share], flipped))
    no_tag = f"the {kind} stanza has an argument that is not the Base64 of 4 bytes"
    for arguments, error in (
        ([tag, *share, "a"], f"the {kind} stanza has {len(share) + 3} arguments instead of {len(share) + 2}"),
        ([], f"the {kind} stanza has 1 argument instead of {len(share) + 2}"),
        *(([bad, *share], no_tag) for bad in (tag[:-1], tag + "A", tag[:-1] + "_", tag[:-1] + "B", tag + "==")),
    ):
        good, bad = ssh_keys.stanza(FILE_KEY, each.text), ([kind, *arguments], body)
        for order in [good, bad], [bad, good]:
            expect_error(4, error, each.name, *order)


def test_tampered_ed25519_stanzas(ed25519):
    (kind, tag, share), body = ssh_keys.stanza(FILE_KEY, ed25519.text)
    for bad in share[:-1], share + "A", share + "=":
        expect_error(4, "has an argument that is not the Base64 of 32 bytes", "ed25519", ([kind, tag, bad], body))
    for bad in body[:-1], body + b"a":
        expect_error(4, f"has a body of {len(bad)} bytes instead of 32", "ed25519", ([kind, tag, share], bad))
    expect_error(4, "has a share of low order", "ed25519", ([kind, tag, age.b64(bytes(32))], body))


def test_tampered_rsa_stanzas(rsa):
    (kind, tag), body = ssh_keys.stanza(FILE_KEY, rsa.text)
    for size in 255, 2049:
        expect_error(4, f"the ssh-rsa stanza has a body of {size} bytes", "rsa", ([kind, tag], bytes(size)))
    for bad in body + b"a", b"\xff" * 256:
        expect_error(3, "none of the given identities opens the input", "rsa", ([kind, tag], bad))
    expect_error(4, "the ssh-rsa stanza has a file key of 15 bytes", "rsa", ssh_keys.stanza(FILE_KEY[:15], rsa.text))
