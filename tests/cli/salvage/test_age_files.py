"""--salvage of age files."""

import pytest

from programs import expect_same, flipped, secret_file, some_bytes, stream

pytest.importorskip("cryptography")
import age_format as age  # noqa: E402

FILE_KEY, SALT = bytes(range(16)), bytes(range(50, 66))
HEAD = age.header(FILE_KEY, [age.x25519_stanza(FILE_KEY)]) + SALT
PLAIN = some_bytes(3 * 65536 + 1000)
WHOLE = HEAD + b"".join(age.segments(FILE_KEY, SALT, PLAIN))
WRONG_KEY = "the header is corrupt, and the file key in it opens no segment; nothing was written"


@pytest.fixture
def identity():
    return secret_file("identity", age.identity_text().encode())


def test_a_damaged_segment_or_a_missing_end(identity):
    damaged = flipped(WHOLE, len(HEAD) + age.SEALED + 5)
    zeros = PLAIN[:65536] + bytes(65536) + PLAIN[131072:]
    for via in "pipe", "file":
        found = stream("--salvage", "-k", identity, input=damaged, via=via, status=4)
        expect_same(zeros, found.out)
        assert found.warnings == [f"the input is corrupt at byte {len(HEAD) + age.SEALED}; "
                                  "plaintext range 65536:65536 is lost"]
        expect_same(PLAIN, stream("--salvage", "-k", identity, input=WHOLE, via=via).out)
        cut = stream("--salvage", "-q", "-k", identity, input=WHOLE[: len(HEAD) + 2 * age.SEALED], via=via, status=4)
        expect_same(PLAIN[:131072], cut.out)


def test_a_full_last_segment(identity):
    """It ends the stream: what follows is reported and not filled with zeros. If it is lost, so may be the end."""
    whole = HEAD + b"".join(age.segments(FILE_KEY, SALT, PLAIN[:131072]))
    for via in "pipe", "file":
        expect_same(PLAIN[:131072], stream("--salvage", "-k", identity, input=whole, via=via).out)
        found = stream("--salvage", "-k", identity, input=whole + bytes(70000), via=via, status=4)
        expect_same(PLAIN[:131072], found.out)
        assert found.error == f"the stream ends at byte {len(whole)}, but the input has 70000 trailing bytes"
        lost = stream("--salvage", "-k", identity, input=flipped(whole, len(whole) - 1), via=via, status=4)
        expect_same(PLAIN[:65536] + bytes(65536), lost.out)
        assert lost.error.startswith("the input is truncated, its last segment is corrupt, or bytes were appended; 65536 bytes")


def test_a_wrong_mac(identity):
    at = HEAD.index(b"---") + 5
    changed = HEAD[:at] + (b"A" if HEAD[at : at + 1] != b"A" else b"B") + HEAD[at + 1 :]
    for via in "pipe", "file":
        found = stream("--salvage", "-q", "-k", identity, input=changed + WHOLE[len(HEAD) :], via=via, status=4)
        expect_same(PLAIN, found.out)
        nothing = stream("--salvage", "-q", "-k", identity, input=changed + bytes(200000), via=via, status=4)
        assert (nothing.out, nothing.error) == (b"", WRONG_KEY)


def test_file_keys_of_all_stanzas_are_tried(identity):
    """One of them may hold another file key. Only a file can be read twice, which shows which is right."""
    other = bytes(range(100, 116))
    head = age.header(FILE_KEY, [age.x25519_stanza(other), age.x25519_stanza(FILE_KEY)], mac=bytes(32)) + SALT
    damaged = head + flipped(WHOLE[len(HEAD) :], 5)
    found = stream("--salvage", "-k", identity, input=damaged, via="file", status=4)
    expect_same(bytes(65536) + PLAIN[65536:], found.out)
    assert found.warnings[0].endswith("other recipients may see another plaintext")
    piped = stream("--salvage", "-q", "-k", identity, input=head + WHOLE[len(HEAD) :], via="pipe", status=4)
    assert (piped.out, piped.error) == (b"", WRONG_KEY)


def test_a_segment_without_plaintext_shows_the_right_file_key(identity):
    other = bytes(range(100, 116))
    head = age.header(FILE_KEY, [age.x25519_stanza(FILE_KEY), age.x25519_stanza(other)], mac=bytes(32)) + SALT
    empty = head + b"".join(age.segments(FILE_KEY, SALT, b""))
    found = stream("--salvage", "-q", "-k", identity, input=empty, via="file", status=4)
    assert (found.out, found.error) == (b"", "the header is corrupt; all of the plaintext was verified")


def test_damage_before_a_full_last_segment(identity):
    """Damage is told from what follows the end, and from an end that is missing."""
    whole = flipped(HEAD + b"".join(age.segments(FILE_KEY, SALT, PLAIN[:131072])), len(HEAD) + 5)
    lost = "65536 bytes of plaintext in 1 range"
    for via in "pipe", "file":
        found = stream("--salvage", "-k", identity, input=whole + bytes(70000), via=via, status=4)
        expect_same(bytes(65536) + PLAIN[65536:131072], found.out)
        assert found.error == (f"the stream ends at byte {len(whole)}, but the input has 70000 trailing bytes; "
                               f"{lost} are lost")
        cut = flipped(WHOLE[: len(HEAD) + 2 * age.SEALED], len(HEAD) + 5)
        found = stream("--salvage", "-k", identity, input=cut, via=via, status=4)
        expect_same(bytes(65536) + PLAIN[65536:131072], found.out)
        assert found.error == (f"the input is truncated after byte {len(cut)}; 131072 bytes of plaintext before that were "
                               f"verified, except for {lost}; nothing after that was recovered")
