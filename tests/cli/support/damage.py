"""Expectations about sealed files that were changed. Each function takes a way to run gpuaes-stream: programs.stream, or
Batch.stream for many cases."""

import sealed_format as sf
from programs import KEY, expect_same

SEGMENT, SEALED = 16384, 16400
HEADER = 175  # bytes before the segments, with one key slot
QUICK = ["-l", "cpu:1", "-b", "16K"]  # for tests that depend on neither


def open_independently(data, **secret):
    """The exit status and plaintext that the independent implementation gives."""
    try:
        return 0, sf.open_sealed(data, **(secret or {"key": KEY}))
    except sf.Unopened as error:
        return error.exit, getattr(error, "plaintext", b"")


def expect_damage(run, key, data, good, plaintext, *options, start=HEADER, cut=False, via="pipe"):
    """Decryption exits with 4 after exactly `good` segments of plaintext. The message names the number of bytes written
    and the offset of the next segment, or with `cut`, if that has no complete tag, the end of the input. Returns the
    Result."""
    got = run("-q", "-d", "-k", key, *options, status=4, input=data, via=via)
    expect_same(plaintext[: good * SEGMENT], got.out, options)
    at = start + good * SEALED
    what = (f"truncated after byte {len(data)}" if cut else f"corrupt at byte {at}" if len(data) - at >= SEALED
            else f"corrupt or truncated at byte {at}")
    assert got.error == f"the input is {what}; {len(got.out)} bytes of plaintext before that were verified"
    return got
