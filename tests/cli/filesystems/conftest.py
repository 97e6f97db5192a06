"""The packages that scripts/setup installs from the Python package index, and our modules as the wheel installs them."""

import atexit
import os
import pathlib
import re
import shutil
import sys
import tempfile

import pytest

from programs import FOLDER, INSTALLED, SANITIZED

TOP = pathlib.Path(__file__).parents[3]


def install(folder):
    """The modules and their entry points, which fsspec reads when it is imported."""
    modules = FOLDER.parent / "share/gpuaes-stream" if INSTALLED else TOP / "python"
    project = (TOP / "pyproject.toml").read_text()
    entries = re.search(r'(?ms)^\[project\.entry-points\."fsspec\.specs"\]\n(.*?)\n\n', project)[1].replace('"', "")
    info = folder / "gpuaes_stream-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gpuaes-stream\nVersion: 0\n")
    (info / "entry_points.txt").write_text(f"[fsspec.specs]\n{entries}\n")
    (folder / "scipy.py").write_text("raise ImportError  # Debian's may be for another version of NumPy\n")
    shutil.copy(modules / "sealedfile.py", folder / "gpuaes_stream.py")
    shutil.copy(modules / "sealedfs.py", folder / "gpuaes_stream_fsspec.py")


folder = tempfile.mkdtemp()
atexit.register(shutil.rmtree, folder, ignore_errors=True)
os.chmod(folder, 0o755)
paths = [folder, str(TOP / "build/tools/python")]
sys.path[:0] = paths
os.environ["PYTHONPATH"] = os.pathsep.join(paths)  # for Dask's workers
install(pathlib.Path(folder))


@pytest.fixture(scope="session", autouse=True)
def without_sanitizers():
    """The modules are not instrumented, and other tests run the programs with sanitizers."""
    if SANITIZED:
        pytest.skip("programs with sanitizers")


@pytest.fixture(scope="session")
def s3():
    """The options for moto's S3, with a bucket."""
    moto, s3fs = pytest.importorskip("moto.server"), pytest.importorskip("s3fs")
    service = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    service.start()
    host, port = service.get_host_and_port()
    options = {"key": "user", "secret": "password", "endpoint_url": f"http://{host}:{port}"}
    s3fs.S3FileSystem(**options).mkdir("bucket")
    yield options
    service.stop()
