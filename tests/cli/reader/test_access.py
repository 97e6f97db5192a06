"""A SealedFile is a binary file: it can seek, and other modules and threads can use it."""

import concurrent.futures
import io
import os
import pathlib
import random
import tarfile
import time
import tracemalloc
import zipfile

import pytest

from programs import KEY, some_bytes

pytest.importorskip("cryptography")
import age_format as af  # noqa: E402
import sealed_format as sf  # noqa: E402
from sources import KINDS, SEGMENT, make, seal  # noqa: E402
from sealedfile import SealedFile, WrongKey  # noqa: E402

PLAIN = some_bytes(20 * SEGMENT + 100)  # more than is read when a file is opened


@pytest.fixture(params=KINDS)
def opened(request, key):
    """A file of several segments."""
    sealed, secret = make(request.param, PLAIN, key)
    with SealedFile(io.BytesIO(sealed), **secret) as file:
        yield file


def test_ranges_around_segment_boundaries(opened):
    edges = [at + near for at in (0, SEGMENT, 2 * SEGMENT, af.SEGMENT, len(PLAIN)) for near in (-1, 0, 1)]
    edges = [at for at in edges if 0 <= at] + [len(PLAIN) + SEGMENT, len(PLAIN) + af.SEGMENT]
    for begin in edges:
        for end in edges:
            want, size = PLAIN[begin:end], max(0, end - begin)
            assert opened.read_at(begin, size) == want
            assert opened.seek(begin) == begin and opened.read(size) == want
            buffer = bytearray(size)
            assert opened.seek(begin) == begin and opened.readinto(buffer) == len(want)
            assert buffer[: len(want)] == want and opened.tell() == begin + len(want)


def test_many_small_ranges_in_any_order(opened):
    chosen = random.Random(1)
    for _ in range(500):
        begin, size = chosen.randrange(len(PLAIN)), chosen.choice((1, 100, SEGMENT, 3 * SEGMENT))
        assert opened.read_at(begin, size) == PLAIN[begin : begin + size], (begin, size)


def test_it_behaves_like_a_file(opened):
    assert opened.readable() and opened.seekable() and not opened.writable() and opened.size == len(PLAIN)
    assert (opened.read(), opened.read(), opened.read(1), opened.readinto(bytearray(1))) == (PLAIN, b"", b"", 0)
    assert (opened.seek(-10, os.SEEK_END), opened.seek(-5, os.SEEK_CUR)) == (len(PLAIN) - 10, len(PLAIN) - 15)
    assert (opened.read(None), opened.tell()) == (PLAIN[-15:], len(PLAIN))
    assert (opened.seek(2 * len(PLAIN)), opened.read(1)) == (2 * len(PLAIN), b"")
    for offset, whence in ((-1, os.SEEK_SET), (-len(PLAIN) - 1, os.SEEK_END)):
        with pytest.raises(ValueError):
            opened.seek(offset, whence)
    with pytest.raises(ValueError):
        opened.read_at(-1, 1)
    assert (opened.seek(0), opened.read(0)) == (0, b"")
    reader = io.BufferedReader(opened, 1000)
    assert (reader.readline(), reader.peek()[:1]) == (PLAIN[: PLAIN.index(b"\n") + 1], PLAIN[11:12])
    assert reader.read() == PLAIN[11:]
    opened.close()
    for use in (opened.read, opened.tell, lambda: opened.readinto(bytearray(1)), lambda: opened.read_at(0, 1)):
        with pytest.raises(ValueError):
            use()


def test_only_files_that_it_opened_are_closed(key):
    sealed = io.BytesIO(seal(PLAIN, "-k", key))
    SealedFile(sealed, key=KEY).close()
    assert not sealed.closed
    pathlib.Path("sealed").write_bytes(sealed.getvalue())
    descriptors = len(os.listdir("/proc/self/fd"))
    SealedFile("sealed", key=KEY).close()
    assert len(os.listdir("/proc/self/fd")) == descriptors
    with pytest.raises(WrongKey) as raised:
        SealedFile("sealed", key=KEY[::-1])
    assert len(os.listdir("/proc/self/fd")) == descriptors, raised


def test_archives(opened, key, tmp_path):
    for name, size in (("one", 10), ("two", 100_000)):
        pathlib.Path(name).write_bytes(some_bytes(size))
    with zipfile.ZipFile("archive.zip", "w") as archive, tarfile.open("archive.tar", "w") as tar:
        for name in ("one", "two"):
            archive.write(name)
            tar.add(name)
    for kind in KINDS:
        for name in ("archive.zip", "archive.tar"):
            sealed, secret = make(kind, pathlib.Path(name).read_bytes(), key)
            with SealedFile(io.BytesIO(sealed), **secret) as file:
                if name == "archive.zip":
                    assert zipfile.ZipFile(file).read("two") == some_bytes(100_000)
                else:
                    assert tarfile.open(fileobj=file).extractfile("two").read() == some_bytes(100_000)


class Yielding(io.BytesIO):
    """Lets another thread run whenever it is used."""

    def seek(self, *where):
        position = super().seek(*where)
        time.sleep(0)
        return position


@pytest.mark.parametrize("kind", KINDS)
def test_threads(key, kind):
    """Each range is right, and reads at the common position return every byte once."""
    chosen, step = random.Random(1), 5000
    ranges = [(chosen.randrange(len(PLAIN)), chosen.randrange(3 * SEGMENT)) for _ in range(400)]
    sealed, secret = make(kind, PLAIN, key)
    with SealedFile(Yielding(sealed), **secret) as opened, concurrent.futures.ThreadPoolExecutor(8) as threads:
        for (at, size), got in zip(ranges, threads.map(lambda each: opened.read_at(*each), ranges)):
            assert got == PLAIN[at : at + size]
        pieces = list(threads.map(lambda _: opened.read(step), range(len(PLAIN) // step + 1)))
    assert sorted(pieces) == sorted(PLAIN[at : at + step] for at in range(0, len(PLAIN), step))


def test_processes_that_share_a_file(key):
    """As the workers of a data loader do, which are forked after the file was opened."""
    plain = some_bytes(40 * SEGMENT)
    pathlib.Path("sealed").write_bytes(seal(plain, "-k", key))
    children = []
    with SealedFile("sealed", key=KEY) as file:
        for _ in range(4):
            child = os.fork()
            if child == 0:
                good = False
                try:
                    good = all(file.read_at(i % 30 * SEGMENT, 1) == plain[i % 30 * SEGMENT :][:1] for i in range(2000))
                finally:
                    os._exit(0 if good else 1)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4


def test_memory_does_not_grow_with_the_file():
    plain = bytes(16 << 20)
    for sealed, key in ((sf.seal(plain, keys=[KEY]), KEY), (af.seal(plain), af.identity_text().encode())):
        pathlib.Path("sealed").write_bytes(sealed)
        del sealed
        with SealedFile("sealed", key=key) as file:
            buffer = bytearray(len(plain))
            tracemalloc.start()
            while file.read(1 << 16):
                pass
            file.seek(0)
            assert file.readinto(buffer) == len(plain)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 3 << 20
