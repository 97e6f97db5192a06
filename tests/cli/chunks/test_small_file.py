"""A ring has no more chunks than a small file, and every mode works with such a ring and with many lanes."""

import json

import pytest

from programs import IV, expect_same, has_cuda, some_bytes, stream


@pytest.mark.parametrize("size", [65_537, 100_000, 131_072, 131_073, 200_000])
def test_small_file(work, key, batch, size):
    data = some_bytes(size)
    plain, out, opened, stats = (work / name for name in ("plain", "out", "opened", "stats"))
    sealed, damaged = work / "sealed", work / "damaged"
    plain.write_bytes(data)
    content = stream("-q", "-k", key, input=data).out
    sealed.write_bytes(content)
    damaged.write_bytes(content[:20_000] + bytes(4) + content[20_004:])  # the second segment is lost
    for lanes in ["cpu:9", *(["cuda:0:3", "cpu:3+cuda:0:2"] if has_cuda() else [])]:
        run = stream if size == 65_537 or "cuda" in lanes else batch.stream

        def process(*options, want=None, chunks=None, status=0, output=opened):
            run("-q", "-k", key, "-l", lanes, "--stats", stats, *options, "-o", output, status=status)
            if want is not None:
                expect_same(want, output.read_bytes(), options)
            if chunks:
                assert json.loads(stats.read_text())["ring"]["chunks"] == chunks

        for form in (["-f", "sealed"], ["-f", "cobblestone"], ["-f", "raw", "--iv", IV]):
            for chunk_size, chunks in (("64K", -(-size // 65_536)), ("1M", 1)):
                process(*form, "-b", chunk_size, plain, chunks=chunks, output=out)
                process(*form, "-b", chunk_size, "-d", out, chunks=1 if chunks == 1 else None, want=data)
        for start, count in ((0, 1), (16_383, 2), (40_000, 20_000), (size - 1, 1)):
            process("-d", "--range", f"{start}:{count}", sealed, want=data[start : start + count])
        run("-q", "-k", key, "-l", lanes, "--test", sealed, sealed, sealed)
        opened.unlink()
        process("-d", damaged, status=4)
        assert not opened.exists()
        process("-d", "--salvage", damaged, status=4, want=data[:16_384] + bytes(16_384) + data[32_768:])
