"""--salvage of files whose header is damaged. It goes on if the given secret opens a slot and the commitment matches."""

import json
import pathlib

import pytest

from parts_steps import seal_in_parts
from programs import each_way, flipped, keygen, some_bytes, stream

PLAIN = some_bytes(40_000)
SLOTS, SLOT = 20, 67  # offset of the slots, and size of one for a key file
MAC = SLOTS + 2 * SLOT
MESSAGE = MAC + 32  # salt, commitment, segments
DAMAGED = f"the header, which ends at byte {MESSAGE}, is corrupt, but the given secret opens one of its slots"
ERROR = "the header is corrupt; all of the plaintext was verified"


@pytest.fixture
def other_key(work):
    """The name of another key file."""
    keygen("-o", work.parent / "other-key")
    return str(work.parent / "other-key")


@pytest.fixture
def sealed(key, other_key):
    """A file with a slot for each of the keys."""
    return stream("-k", key, "-k", other_key, input=PLAIN).out


def recovers(data, *options, run=stream):
    """Whether --salvage recovers the plaintext. It must not write anything else."""
    found = run("--salvage", *options, input=data, status=None)
    assert found.out in (b"", PLAIN)
    if found.out:
        assert (found.status, found.error, found.warnings) == (4, ERROR, [DAMAGED])
    else:
        assert found.status in (1, 3, 4) and found.warnings == []
    return bool(found.out)


def recovered(batch, sealed, key, bit):
    """The offsets at which a damaged byte does not prevent recovery."""
    offsets = each_way(batch, range(MESSAGE + 56))
    return {at for run, at in offsets if recovers(flipped(sealed, at, bit=bit), "-k", key, run=run)}


@pytest.mark.parametrize("bit", [0, 7])
def test_damage_to_another_slot_or_the_mac_does_not_prevent_recovery(batch, sealed, key, other_key, bit):
    other = SLOTS + SLOT  # the sizes of slots are needed to find the next
    mac = set(range(MAC, MESSAGE))
    assert recovered(batch, sealed, key, bit) == mac | {other} | set(range(other + 3, other + SLOT))
    assert recovered(batch, sealed, other_key, bit) == mac | {SLOTS} | set(range(SLOTS + 3, SLOTS + SLOT))


def test_decryption_still_refuses_it(sealed, key):
    pathlib.Path("damaged").write_bytes(flipped(sealed, MAC))
    for mode in (["-d"], ["--test"], ["--range", "0:1"], ["--rekey", "--new-key", key]):
        assert stream(*mode, "-k", key, "damaged", status=4).out == b""


def test_lost_segments_are_reported_as_well(sealed, key):
    damaged = flipped(sealed, MAC, MESSAGE + 56 + 16400)
    found = stream("--salvage", "-k", key, input=damaged, status=4)
    assert found.out == PLAIN[:16384] + bytes(16384) + PLAIN[32768:]
    assert found.warnings[0] == DAMAGED and len(found.warnings) == 2
    assert found.error == "the input is corrupt; 16384 bytes of plaintext in 1 range are lost"


def test_the_warning_names_the_file_and_the_commitment_is_verified(sealed, key):
    pathlib.Path("damaged").write_bytes(flipped(sealed, MAC))
    found = stream("--salvage", "-k", key, "damaged", "-o", "out", "--stats", "stats", status=4)
    assert found.warnings == [f"damaged: {DAMAGED}"]
    assert pathlib.Path("out").read_bytes() == PLAIN
    commitment = json.loads(pathlib.Path("stats").read_bytes())["commitment"]
    assert bytes.fromhex(commitment) == sealed[MESSAGE + 24 : MESSAGE + 56]


@pytest.mark.parametrize("at", [MESSAGE, MESSAGE + 24], ids=["salt", "commitment"])
@pytest.mark.parametrize("mac", [[], [MAC]], ids=["MAC", "damaged MAC"])
def test_without_its_commitment_nothing_is_written(sealed, key, at, mac):
    pathlib.Path("out").write_bytes(b"old")
    found = stream("--salvage", "-k", key, "-o", "out", input=flipped(sealed, at, *mac), status=4)
    assert "in its header, or was encrypted with a different label; nothing was written" in found.error
    assert pathlib.Path("out").read_bytes() == b"old"


def test_damage_to_the_slot_of_the_passphrase_does_not_matter_to_a_key(key):
    pathlib.Path("words").write_text("correct horse\n")
    pathlib.Path("words").chmod(0o600)
    sealed = stream("-k", key, "--passphrase-file", "words", input=PLAIN).out
    damaged = flipped(sealed, SLOTS + SLOT + 3, bit=7)  # the cost of scrypt, now above the limit
    for secrets in (["-k", key], ["-k", key, "--passphrase-file", "words"]):
        assert stream("--salvage", *secrets, input=damaged, status=4).error == ERROR
    assert "scrypt" in stream("--salvage", "--passphrase-file", "words", input=damaged, status=4).error


def test_a_slot_that_was_written_malformed_is_still_an_error(key):
    """With a right MAC, it is not damage: a later version may have added a slot that readers must not skip."""
    pytest.importorskip("cryptography")
    import sealed_format as sf

    file_key = bytes(32)
    own = sf.key_slot(file_key, bytes(range(32)))
    later, short = (0x81, b"?"), (sf.KEY_FILE, b"?")
    for slots, status in ([later], 1), ([short], 4), ([later, short], 1), ([short, later], 4):
        sealed = sf.seal(PLAIN, slots=[*slots, own], file_key=file_key)
        for mode in ("-d", "--salvage"):
            found = stream(mode, "-k", key, input=sealed, status=status)
            assert found.out == b"" and "slot of type" in found.error


@pytest.fixture
def in_parts(key):
    """A file made of parts, the size of its header, and the offset of its index."""
    seal_in_parts(key, PLAIN, 2, "sealed")
    return pathlib.Path("sealed").read_bytes()


@pytest.mark.parametrize("more, text", [([], PLAIN), (["part 0"], None), (["part 0", "index"], b""), (["index"], PLAIN)])
def test_in_a_file_made_of_parts_the_index_or_part_0_proves_the_key(key, in_parts, more, text):
    mac, part_0 = SLOTS + SLOT, SLOTS + SLOT + 32
    places = {"part 0": part_0 + 20, "index": len(in_parts) - 9}
    pathlib.Path("damaged").write_bytes(flipped(in_parts, mac, *(places[each] for each in more)))
    found = stream("--salvage", "-k", key, "-i", "damaged", status=4)
    if text is None:  # part 0 is lost
        text = bytes(32768) + PLAIN[32768:]
    assert found.out == text
    assert bool(text) == any("but the given secret opens one of its slots" in warning for warning in found.warnings)
