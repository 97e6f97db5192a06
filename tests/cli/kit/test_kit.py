"""The programs, the independent implementation and sealedfile.py do with each file of the kit what it says."""

import contextlib
import functools
import hashlib
import io
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

from programs import PATIENCE, stream

pytest.importorskip("cryptography")
import kit  # noqa: E402
import parts_format as pf  # noqa: E402
import sealed_format as sf  # noqa: E402
import sources  # noqa: E402, F401
from matrix import dealt_to_lanes  # noqa: E402
from sealedfile import NotAuthentic, NotSupported, SealedFile, WrongKey  # noqa: E402

TESTS = pathlib.Path(__file__).parents[2]
READERS = {"pipe": pf.read_pipe, "file": pf.read_file}
EACH_SECRET = pytest.mark.parametrize("vectors", ["classic", "post-quantum"], indirect=True)


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as outer:
        subprocess.run([sys.executable, TESTS / "kit/make.py", f"{outer}/kit"], check=True, timeout=PATIENCE)
        yield pathlib.Path(outer, "kit")


@pytest.fixture
def vectors(folder, request):
    """Those with a post-quantum identity, or all others."""
    if request.param == "post-quantum":
        request.getfixturevalue("ml_kem")
    return [vector for vector in kit.read(folder) if vector.is_post_quantum == (request.param == "post-quantum")]


@contextlib.contextmanager
def directory_of(vector):
    """The name of a directory with its files, or None if it is not a directory."""
    if vector.files:
        vector.write_directory("directory")
    try:
        yield os.path.abspath("directory") if vector.files else None
    finally:
        shutil.rmtree("directory", ignore_errors=True)


def test_the_kit_has_not_changed(folder):
    """A file may change only if it was wrong. After adding files: (cd FOLDER && sha256sum *) >tests/kit/digest"""
    recorded = dict(line.split()[::-1] for line in (TESTS / "kit/digest").read_text().splitlines())
    made = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    assert sorted(recorded.keys() - made.keys()) == []
    assert sorted(name for name in made if made[name] != recorded.get(name)) == []


def open_independently(vector, via):
    with directory_of(vector) as directory:
        if directory:
            return pf.outcome(pf.read_directory(directory, vector.label, **vector.secret))
        if vector.suite in pf.LIMITS:
            return pf.outcome(READERS[via](vector.data, vector.label, **vector.secret))
        try:
            return 0, sf.open_sealed(vector.data, vector.label, **vector.secret)
        except sf.Unopened as error:
            return error.exit, getattr(error, "plaintext", b"")


@EACH_SECRET
def test_the_independent_implementation(vectors):
    for vector, via in itertools.product(vectors, READERS):
        if not vector.is_armored:
            vector.expect(via, *open_independently(vector, via), exact=not vector.files)


def expect_from_the_program(run, lane, vector, via):
    with directory_of(vector) as directory:
        source = {} if directory else {"input": vector.data, "via": via}
        got = run("-q", "-d", *vector.options, "-l", lane, *filter(None, [directory]), status=None, **source)
    vector.expect(via, got.status, got.out, exact=not vector.files and not vector.is_armored)


@EACH_SECRET
def test_the_program(vectors, batch, request):
    cases = [(vector, via) for vector in vectors for via in READERS if via == "file" or not vector.files]
    for run, lane, (vector, via) in dealt_to_lanes(batch, cases):
        if vector.is_post_quantum:
            run = functools.partial(stream, wrap=request.getfixturevalue("ml_kem"))
        expect_from_the_program(run, lane, vector, via)


@pytest.mark.parametrize("vector", kit.read(TESTS / "vectors/0.2"), ids=lambda vector: vector.name)
def test_files_that_0_2_wrote(vector, request):
    """Every later version opens them."""
    wrap = request.getfixturevalue("ml_kem") if vector.is_post_quantum else ()
    expect_from_the_program(functools.partial(stream, wrap=wrap), "cpu:1", vector, "pipe")


def read_with_sealedfile(vector):
    """The exit status that the program would have, or None if this kind of file is not supported, and what was read."""
    secret = {"passphrase": vector.text} if vector.kind == "passphrase" else {"key": vector.text}
    released = b""
    try:
        with directory_of(vector) as directory:
            with SealedFile(directory or io.BytesIO(vector.data), label=os.fsdecode(vector.label), **secret) as file:
                while piece := file.read(5000):
                    released += piece
        return 0, released
    except WrongKey:
        return 3, released
    except NotAuthentic:
        return 4, released
    except NotSupported:
        return 1, released


@pytest.mark.parametrize("vectors", ["classic"], indirect=True)
def test_sealedfile(vectors):
    for vector in vectors:
        status, released = read_with_sealedfile(vector)
        if vector.suite in (2, 4) or vector.is_armored:  # not supported; if it is also damaged, either may be said
            assert status in {1, vector.status} - {0} and released == b"", vector.name
        else:
            vector.expect("file", status, released, exact=False)
