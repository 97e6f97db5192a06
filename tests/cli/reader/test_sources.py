"""SealedFile reads through functions, with few requests and never wrong data, and with fsspec and pyarrow."""

import io
import os
import pathlib
import threading
import time

import pytest

from http_ranges import server
from programs import KEY, some_bytes

pytest.importorskip("cryptography")
import parts_format as pf  # noqa: E402
import sealed_format as sf  # noqa: E402
from sources import KINDS, PLAIN, SEGMENT, Ranges, make, seal  # noqa: E402
from sealedfile import NotAuthentic, SealedFile  # noqa: E402

MEBIBYTE = 1 << 20


@pytest.mark.parametrize("kind", KINDS)
def test_functions(key, kind):
    sealed, secret = make(kind, PLAIN, key)
    for convert in (bytes, bytearray, memoryview):
        ranges = Ranges(sealed)
        with SealedFile(lambda offset, length: convert(ranges(offset, length)), len(sealed), **secret) as file:
            assert file.read() == PLAIN
    with pytest.raises(ValueError, match="needs the size"):
        SealedFile(Ranges(sealed), **secret)


@pytest.mark.parametrize("parts, requests", [(0, 3), (1000, 4)])
def test_a_range_needs_few_requests(parts, requests):
    """The last bytes, the first ones, and the segments; and the header of a part."""
    plain = some_bytes(8 * MEBIBYTE)
    job = pf.new_job(keys=[KEY])
    pieces = [b"x"] * (parts - 1) + [plain]
    sealed = pf.join(job, pf.seal_parts(job, pieces)) if parts else sf.seal(plain, keys=[KEY])
    ranges = Ranges(sealed)
    with SealedFile(ranges, len(sealed), key=KEY) as file:
        at = max(0, parts - 1) + 3 * MEBIBYTE + 5
        assert file.read_at(at, MEBIBYTE) == plain[3 * MEBIBYTE + 5 :][:MEBIBYTE]
        assert len(ranges.asked) == requests and sum(length for _, length in ranges.asked) < 1_300_000
        assert file.read_at(at + MEBIBYTE, 10) == plain[4 * MEBIBYTE + 5 :][:10]  # of a segment that is kept
        assert file.read_at(file.size - 1000, 1000) == plain[-1000:]
        assert len(ranges.asked) == requests


def test_a_small_file_is_one_request(key):
    sealed = seal(PLAIN, "-k", key)
    ranges = Ranges(sealed)
    with SealedFile(ranges, len(sealed), key=KEY) as file:
        assert file.read() == PLAIN
    assert ranges.asked == [(0, len(sealed))]


def wrong(ranges, change, since):
    """A function that returns what it should for the first `since` requests."""

    def read_range(offset, length):
        data = ranges(offset, length)
        return change(data) if len(ranges.asked) > since else data

    return read_range


@pytest.mark.parametrize("change", [
    lambda data: data[:-1], lambda data: data + b"x", lambda data: data[:0], lambda data: data + data,
    lambda data: b"x" + data[1:], lambda data: data[:-1] + bytes([data[-1] ^ 1]), lambda data: bytes(len(data)),
], ids=["short", "long", "empty", "twice", "first byte", "last byte", "zeros"])
@pytest.mark.parametrize("since", range(5))
@pytest.mark.parametrize("kind", KINDS)
def test_wrong_ranges_are_errors(kind, change, since, large):
    """From any request on, also if the same range was right before."""
    plain, sealed, secret = large(kind)
    with pytest.raises(NotAuthentic):
        with SealedFile(wrong(Ranges(sealed), change, since), len(sealed), **secret) as file:
            for at in (0, 1 << 18, 0, 1 << 18, 1 << 17) * 2:
                assert file.read_at(at, 3 * SEGMENT) == plain[at : at + 3 * SEGMENT]


@pytest.fixture(scope="module")
def large():
    """A function that returns a file of 1 MiB, its plaintext, and the secret."""
    import age_format as af

    plain = some_bytes(MEBIBYTE)
    files = {"sealed": (plain, sf.seal(plain, keys=[KEY]), {"key": KEY}),
             "parts": (plain, pf.seal(plain, 3, keys=[KEY]), {"key": KEY}),
             "age": (plain, af.seal(plain), {"key": af.identity_text().encode()})}
    return files.__getitem__


def test_a_range_of_another_version_is_an_error(key):
    """An object that is replaced while it is read, by another one of the same size and for the same key."""
    old, new = (sf.seal(some_bytes(MEBIBYTE), keys=[KEY]) for _ in range(2))
    ranges = Ranges(old)
    with SealedFile(ranges, len(old), key=KEY) as file:
        assert file.read_at(0, 10) == some_bytes(10)
        ranges.data = new
        with pytest.raises(NotAuthentic, match="segment 20 is not authentic"):
            file.read_at(20 * SEGMENT, 10)


def test_errors_of_the_function_remain(key):
    def read_range(offset, length):
        raise ConnectionError("lost")

    with pytest.raises(ConnectionError):
        SealedFile(read_range, 1000, key=KEY)


def test_files_that_return_less_than_asked(key):
    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 1000))

    with SealedFile(Slow(seal(PLAIN, "-k", key)), key=KEY) as file:
        assert file.read() == PLAIN


def test_files_that_become_shorter():
    pathlib.Path("sealed").write_bytes(sf.seal(some_bytes(MEBIBYTE), keys=[KEY]))
    with SealedFile("sealed", key=KEY) as file:
        os.truncate("sealed", 500_000)
        assert file.read_at(0, 100_000) == some_bytes(100_000)
        with pytest.raises(NotAuthentic, match="too little"):
            file.read_at(480_000, 100_000)
    job, pieces = pf.new_job(keys=[KEY]), pf.cut(some_bytes(MEBIBYTE), 4)
    pf.write_directory("dir", job, pf.seal_parts(job, pieces))
    with SealedFile("dir", key=KEY) as file:
        os.truncate("dir/part.0000001", 1000)
        assert file.read_at(0, 100_000) == some_bytes(100_000)
        with pytest.raises(NotAuthentic, match="dir/part.0000001 was truncated"):
            file.read_at(300_000, 100_000)


@pytest.mark.parametrize("name", ["index", "head", "part.0000001"])
def test_parts_that_are_not_regular_files(name):
    job = pf.new_job(keys=[KEY])
    pf.write_directory("dir", job, pf.seal_parts(job, pf.cut(some_bytes(MEBIBYTE), 2)))
    with SealedFile("dir", key=KEY) as file:
        os.unlink(f"dir/{name}")
        os.mkfifo(f"dir/{name}")
        with pytest.raises(OSError, match=f"Not a regular file: 'dir/{name}'"):
            SealedFile("dir", key=KEY)
        if name.startswith("part"):
            with pytest.raises(OSError, match=f"Not a regular file: 'dir/{name}'"):
                file.read()


def test_files_that_cannot_seek(key):
    os.mkfifo("fifo")
    for name in ("fifo", "/dev/zero", "/dev/null"):
        with pytest.raises(OSError, match=f"Not a regular file: '{name}'"):
            SealedFile(name, key=key)
    with pytest.raises(OSError):
        SealedFile("fifo/x", key=key)


def test_key_files_that_are_not_regular_files(key):
    """A FIFO is empty until a process opens its other end."""
    sealed = io.BytesIO(seal(PLAIN, "-k", key))
    os.mkfifo("fifo")
    for name in ("fifo", "/dev/null", "/dev/zero"):
        with pytest.raises(ValueError, match="neither a key"):
            SealedFile(sealed, key=name)
    with pytest.raises(IsADirectoryError):
        SealedFile(sealed, key=".")
    reader = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open("fifo", os.O_WRONLY)
    os.close(reader)
    late = threading.Timer(0.2, lambda: (os.write(writer, KEY[:5]), time.sleep(0.2), os.write(writer, KEY[5:]),
                                         os.close(writer)))
    late.start()
    with SealedFile(sealed, key="fifo") as file:
        assert file.read() == PLAIN
    late.join()


# --- fsspec and pyarrow ------------------------------------------------------------------------------------------------


def test_fsspec_in_memory(key):
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    files.pipe_file("/sealed", seal(PLAIN, "-k", key))
    with files.open("/sealed") as remote, SealedFile(remote, key=KEY) as file:
        assert file.read() == PLAIN
    with SealedFile(lambda at, n: files.cat_file("/sealed", at, at + n), files.size("/sealed"), key=KEY) as file:
        assert file.read_at(50_000, 100) == PLAIN[50_000:50_100]


@pytest.fixture
def parts_in_memory(work):
    """A directory of parts, in fsspec's file system in memory, and its plaintext."""
    fsspec = pytest.importorskip("fsspec")
    plain = some_bytes(MEBIBYTE)
    job = pf.new_job(keys=[KEY])
    pf.write_directory("dir", job, pf.seal_parts(job, pf.cut(plain, 4)))
    files = fsspec.filesystem("memory")
    files.store.clear()
    for file in work.joinpath("dir").iterdir():
        files.pipe_file(f"/dir/{file.name}", file.read_bytes())
    return files, plain


@pytest.mark.parametrize("name", ["memory://dir", "memory://dir/", "file://{}/dir", "/dir"])
def test_parts_by_url(parts_in_memory, work, name):
    files, plain = parts_in_memory
    with SealedFile(name.format(work), key=KEY, filesystem=files if name == "/dir" else None) as file:
        assert file.read() == plain and file.read_at(600_000, 10) == plain[600_000:600_010]


def test_parts_by_url_that_are_damaged(parts_in_memory):
    """Missing, truncated, longer, of another attempt, exchanged, not joined."""
    files, plain = parts_in_memory
    parts = {path: files.cat_file(path) for path in files.find("/dir")}
    job = pf.new_job(keys=[KEY])
    other = pf.seal_parts(job, pf.cut(plain, 4))[1]

    def expect(message, **changes):
        files.store.clear()
        for path, data in {**parts, **{f"/dir/{name}": data for name, data in changes.items()}}.items():
            if data is not None:
                files.pipe_file(path, data)
        with pytest.raises(NotAuthentic, match=message):
            SealedFile("memory://dir", key=KEY).read()

    one, two = "part.0000001", "part.0000002"
    expect("part.0000001 is missing", **{one: None})
    expect("a part has the wrong size", **{one: parts[f"/dir/{one}"][:-1]})
    expect("a part has the wrong size", **{one: parts[f"/dir/{one}"] + b"x"})
    expect("part 1 is missing or damaged", **{one: other})
    expect("part 1 is missing or damaged", **{one: parts[f"/dir/{two}"]})
    expect("index is missing", index=None)
    expect("head is missing", head=None)


def test_a_url_that_is_a_single_file(parts_in_memory, key):
    files, _ = parts_in_memory
    files.pipe_file("/sealed", seal(PLAIN, "-k", key))
    with SealedFile("memory://sealed", key=KEY) as file:
        assert file.read() == PLAIN
    with pytest.raises(FileNotFoundError):
        SealedFile("memory://none", key=KEY)


def test_fsspec_over_http(work):
    fsspec = pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    plain = some_bytes(8 * MEBIBYTE)
    (work / "sealed").write_bytes(sf.seal(plain, keys=[KEY]))
    with server() as (url, asked):
        files = fsspec.filesystem("http")
        name = f"{url}/sealed"
        with SealedFile(lambda at, n: files.cat_file(name, at, at + n), files.size(name), key=KEY) as file:
            assert file.read_at(3 * MEBIBYTE, MEBIBYTE) == plain[3 * MEBIBYTE :][:MEBIBYTE]
        assert len(asked) == 3 and sum(asked) < 1_300_000
        with files.open(name) as remote, SealedFile(remote, key=KEY) as file:
            assert file.read() == plain


def test_one_column_of_an_encrypted_parquet_file(work, record_property):
    """pyarrow asks for the same ranges as of a plaintext file, so little more than the column is read."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({f"c{i}": pa.array(memoryview(os.urandom(8 * 500_000)).cast("q")) for i in range(20)})
    pq.write_table(table, "table.parquet", compression="none", use_dictionary=False)
    plain = pathlib.Path("table.parquet").read_bytes()
    ranges = Ranges(sf.seal(plain, keys=[KEY]))
    with SealedFile(ranges, len(ranges.data), key=KEY) as file:
        column = pq.read_table(file, columns=["c7"])
    assert column.equals(table.select(["c7"]))
    requests, size = len(ranges.asked), sum(length for _, length in ranges.asked)
    record_property("requests", requests)
    record_property("bytes", size)
    assert len(plain) > 80_000_000 and requests <= 9 and size < 4_400_000
