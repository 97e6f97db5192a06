"""--salvage of age files."""

import pytest

from damage import flip
from programs import expect_same, secret_file, some_bytes, stream

pytest.importorskip("cryptography")
import age_format as age  # noqa: E402

FILE_KEY, SALT = bytes(range(16)), bytes(range(50, 66))
HEAD = age.header(FILE_KEY, [age.x25519_stanza(FILE_KEY)]) + SALT
PLAIN = some_bytes(3 * 65536 + 1000)
WHOLE = HEAD + b"".join(age.segments(FILE_KEY, SALT, PLAIN))


def test_a_damaged_segment_or_a_missing_end():
    identity = secret_file("identity", age.identity_text().encode())
    damaged = flip(WHOLE, len(HEAD) + age.SEALED + 5)
    zeros = PLAIN[:65536] + bytes(65536) + PLAIN[131072:]
    for via in "pipe", "file":
        found = stream("--salvage", "-k", identity, input=damaged, via=via, status=4)
        expect_same(zeros, found.out)
        assert found.warnings == [f"the input is corrupt at byte {len(HEAD) + age.SEALED}; "
                                  "plaintext range 65536:65536 is lost"]
        expect_same(PLAIN, stream("--salvage", "-k", identity, input=WHOLE, via=via).out)
        cut = stream("--salvage", "-q", "-k", identity, input=WHOLE[: len(HEAD) + 2 * age.SEALED], via=via, status=4)
        expect_same(PLAIN[:131072], cut.out)
