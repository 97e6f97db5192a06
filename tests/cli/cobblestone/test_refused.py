"""A bare message with another key or context, or a changed salt or commitment, fails with status 3 before any output. A
truncated header or a damaged segment fails with status 4."""

import itertools

import pytest

from programs import KEY, SANITIZED, flipped, secret_file, some_bytes, spread, stream

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402
import damage  # noqa: E402

COBBLESTONE = ("-f", "cobblestone", *damage.QUICK)
OTHER_KEY = bytes(32 - i for i in range(32))
PLAIN = some_bytes(2 * damage.SEGMENT + 1000)
NOT_OPENED = "this key and context do not open the input"
CHECK = "check -f, -k and --context; if they are right, the first 56 bytes of the input are damaged"


@pytest.fixture(params=[16, 32])
def message_key(request, key):
    """The contents of the key file."""
    secret_file(key, KEY[: request.param])
    return KEY[: request.param]


def refused(run, status, error, hint, key, data, *options):
    result = run("-q", "-d", *COBBLESTONE, "-k", key, *options, input=data, via=("pipe", "file")[len(data) % 2],
                 status=status)
    assert (result.out, result.error, result.hint) == (b"", error, hint)


def test_another_key_or_context(message_key, key):
    sealed, bound = (sf.message(message_key, context, PLAIN) for context in (b"", b"context"))
    other = secret_file("other", OTHER_KEY[: len(message_key)])
    other_length = secret_file("other-length", OTHER_KEY[: 48 - len(message_key)])
    for data, name, context in (
        (sealed, other, b""),
        (sealed, other_length, b""),
        (sealed, key, b"\0"),
        (bound, key, b""),
        (bound, key, b"Context"),
        (bound, key, b"context\0"),
    ):
        options = ["--context", context.hex()] if context else []
        refused(stream, 3, NOT_OPENED, CHECK, name, data, *options)
    assert stream("-q", "-d", *COBBLESTONE, "-k", key, "--context", b"context".hex(), input=bound).out == PLAIN


def test_damage(batch, message_key, key):
    sealed = sf.message(message_key, b"", PLAIN)

    def expect_damage(data, good, where, **how):
        got = damage.expect_damage(batch.stream, key, data, good, PLAIN, *COBBLESTONE, start=56, **how)
        verified = f"; {good * damage.SEGMENT} bytes of plaintext before that were verified"
        assert got.error == f"the input is {where}{verified}"

    for i in spread(range(56), 10 if SANITIZED else 56):
        refused(batch.stream, 3, NOT_OPENED, CHECK, key, flipped(sealed, i, bit=i % 8))
        error = f"the input is truncated after byte {i}, in its header; nothing was written"
        refused(batch.stream, 4, error, "copy or download it again", key, sealed[:i])
    for i, at in itertools.product(range(3), (0, 500, 1000, 1015)):
        start = 56 + i * damage.SEALED
        expect_damage(flipped(sealed, start + at), i, f"corrupt{' or truncated' if i == 2 else ''} at byte {start}")
    end = 56 + damage.SEALED  # of the first segment
    for size in (56, 57, 71, 72, 73, end - 1, end, end + damage.SEALED, end + damage.SEALED + 15, len(sealed) - 1):
        good, rest = divmod(size - 56, damage.SEALED)
        cut = rest < 16  # not even a tag
        where = f"truncated after byte {size}" if cut else f"corrupt or truncated at byte {size - rest}"
        expect_damage(sealed[:size], good, where, cut=cut)
    for more in (b"x", sealed):
        where = f"corrupt{' or truncated' if len(more) == 1 else ''} at byte {end + damage.SEALED}"
        expect_damage(sealed + more, 2, where)
