"""The recipe for the weights of a model in gpuaes-recipes(7), run as printed; aws copies files, and there is no Kubernetes."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

import pytest

from programs import FOLDER, keygen, script, some_bytes
from recipes import examples

TOP = pathlib.Path(__file__).parents[3]
AWS = """\
[ "$1 $2" = "s3 cp" ] && shift 2 || exit 2
case $1 in
  --recursive) mkdir -p "objects/${4#s3://}" && cp "$3"/* "objects/${4#s3://}" ;;
  *) head -c "${CUT:-1000000}" "objects/${1#s3://}" ;;
esac
"""


@pytest.fixture
def blocks(work, monkeypatch):
    """The examples of the section, after those that seal have run; directories of the container are here."""
    for name in "model", "identity", "models":
        os.mkdir(name)
    script("bin/aws", AWS)
    monkeypatch.setenv("PATH", f"{work}/bin:{FOLDER}:{os.environ['PATH']}")
    keygen("--x25519", "-o", "identity/identity")
    shutil.copy("identity/identity.pub", "customer.pub")
    tensors = json.dumps({"lm_head.weight": {"dtype": "F32", "shape": [100, 250], "data_offsets": [0, 100_000]}}).encode()
    weights = struct.pack("<Q", len(tensors)) + tensors + some_bytes(100_000)
    pathlib.Path("model/model.safetensors").write_bytes(weights)
    pathlib.Path("model/config.json").write_text("{}")
    found = examples("Deliver the weights of a model to customers", ("/mnt", str(work)), ("$ ", ""))
    bash(found[0] + found[1])
    os.unlink("weights.key")
    shutil.rmtree("sealed")
    return found


def bash(commands, status=0, **variables):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], env={**os.environ, **variables}, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True)
    assert done.returncode == status and (status or not done.stderr), done.stderr


def contents(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}


def test_the_customer_opens_the_files(blocks):
    pathlib.Path("initializer").write_text(blocks[2])
    bash("sh initializer sealed://models/llama models", status=4, CUT="50000")
    assert "model.safetensors" not in contents("models")
    bash("sh initializer sealed://models/llama models")
    assert contents("models") == contents("model")


def test_each_rank_reads_its_tensors(blocks, work):
    pytest.importorskip("cryptography")
    pytest.importorskip("fsspec")
    code = blocks[4].replace("s3://", f"file://{work}/objects/") + "assert weight == open('wanted', 'rb').read()\n"
    pathlib.Path("wanted").write_bytes(some_bytes(100_000))
    shutil.copy(TOP / "python/sealedfile.py", "gpuaes_stream.py")
    subprocess.run([sys.executable, "-c", code], check=True)
