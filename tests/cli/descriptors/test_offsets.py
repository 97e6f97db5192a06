"""Regular files as standard input and output are read and written from their offsets."""

import os
import pathlib

import pytest

from programs import expect_same, larger_files, openssl_ctr, raw, some_bytes

PLAIN = some_bytes(3_000_003)


@pytest.mark.parametrize("skipped", [1, 1000, 65_536, 3_000_000, 3_000_003, 4_000_000])
def test_a_file_is_read_from_its_offset_and_left_at_its_end(key, skipped, start=0):
    with open("input", "w+b", buffering=0) as file:
        file.seek(start)
        file.write(PLAIN)
        file.seek(start + skipped)
        result = raw(key, "-b", "64K", "-l", "cpu:2", stdin=file)
        expect_same(openssl_ctr(PLAIN[skipped:]), result.out)
        assert file.tell() == start + max(skipped, len(PLAIN))


@pytest.mark.parametrize("skipped", [0, 65_536])
def test_offsets_beyond_32_bits(key, skipped):
    with larger_files():
        try:
            pathlib.Path("input").touch()
            os.truncate("input", 5 << 30)
        except OSError:
            pytest.skip("cannot create a file of 5 GiB")
        test_a_file_is_read_from_its_offset_and_left_at_its_end(key, skipped, 5 << 30)


def test_output_is_appended(key):
    pathlib.Path("out").write_bytes(b"before")
    for _ in range(2):
        with open("out", "ab") as out:
            raw(key, "-b", "64K", input=PLAIN, stdout=out)
    expect_same(b"before" + 2 * openssl_ctr(PLAIN), pathlib.Path("out").read_bytes())


def test_output_is_written_between_a_header_and_a_trailer(key):
    with open("out", "wb", buffering=0) as out:
        out.write(b"header")
        raw(key, "-b", "64K", input=PLAIN, stdout=out)
        out.write(b"trailer")
    expect_same(b"header" + openssl_ctr(PLAIN) + b"trailer", pathlib.Path("out").read_bytes())
