"""--test exits as decryption would, with the same message, and writes nothing."""

import pytest

from matrix import dealt_to_lanes
from programs import KEY, flipped, secret_file, some_bytes

pytest.importorskip("cryptography")
import sealed_format as sf  # noqa: E402
from damage import HEADER, SEALED, SEGMENT  # noqa: E402


@pytest.mark.parametrize("size", [2 * SEGMENT, 2 * SEGMENT + 100])
@pytest.mark.parametrize("options, header", [([], HEADER), (["-f", "cobblestone"], 56)])
def test_the_status_is_that_of_decryption(work, key, batch, size, options, header):
    plain = some_bytes(size)
    whole = sf.message(KEY, b"", plain) if options else sf.seal(plain, [KEY])
    second = header + SEALED
    damaged = [flipped(whole, header), flipped(whole, second), flipped(whole, len(whole) - 5), whole + b"x", whole[:-1],
               whole[:second], whole[:header], whole[: header - 1], b""]  # fmt: skip
    wrong_key = secret_file(work.parent / "wrong", KEY[::-1])
    inputs = [(key, whole, 0), *((key, data, 4) for data in damaged), (wrong_key, whole, 3)]
    decrypted = [batch.stream("-q", "-d", "-k", secret, *options, input=data, status=status)
                 for secret, data, status in inputs]  # fmt: skip
    for i, (run, lane, ((secret, data, status), want)) in enumerate(dealt_to_lanes(batch, zip(inputs, decrypted))):
        mode, via = ([], ["-d"])[i // 2 % 2], ("pipe", "file")[i % 2]
        how = {"status": status, "input": data, "via": via}
        found = run("-q", "--test", *mode, "-l", lane, "-b", "16K", "-k", secret, *options, **how)
        hint = want.hint.replace(", or use --salvage to recover the undamaged parts", "")
        assert (found.out, found.error, found.hint) == (b"", want.error, hint), (lane, via, mode)
