"""CUDA lanes run on the CPUs of their device's node, and profilers receive NVTX ranges of all lanes."""

import collections
import os
import pathlib
import re
import subprocess

import pytest

from processes import wait_for
from programs import PATIENCE, expect_same, has_cuda, lanes, openssl_ctr, raw, some_bytes, start_raw, stream

# Two nodes with memory. All devices are on node 0.
ON_TWO_NODES = """
mount --bind "$1/node" /sys/devices/system/node
for file in /sys/bus/pci/devices/*/numa_node; do mount --bind "$1/numa_node" "$file"; done
exec "${@:2}"
"""


def cpus_of(pid):
    return re.search(r"^Cpus_allowed_list:\t(.*)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M).group(1)


@pytest.mark.root
def test_a_thread_runs_on_the_cpus_of_its_device_while_it_works(key, work):
    if not has_cuda():
        pytest.skip("no CUDA device is here")
    all_cpus = cpus_of("self")
    last = re.split("[-,]", all_cpus)[-1]
    if last == all_cpus:
        pytest.skip("needs two CPUs")
    files = {"node/has_cpu": "0-1", "node/has_memory": "0-1", "node/node0/cpulist": last, "node/node1/cpulist": all_cpus,
             "numa_node": "0"}
    for name, text in files.items():
        path = work.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    on_two_nodes = ["unshare", "-m", "bash", "-ec", ON_TWO_NODES, "bash", work.parent]
    if subprocess.run([*on_two_nodes, "true"]).returncode != 0:
        pytest.skip("cannot replace files in /sys")

    child = start_raw(key, "-l", "cuda:0:2", wrap=on_two_nodes, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    wait_for(lambda: cpus_of(child.pid) == last, f"a thread on CPU {last}")
    out = child.communicate(some_bytes(100_000), timeout=PATIENCE)[0]
    assert child.returncode == 0
    expect_same(openssl_ctr(some_bytes(100_000)), out)


def test_a_driver_that_is_too_old_is_an_error(key):
    old_driver = os.environ.get("GPUAES_OLD_DRIVER")
    if not old_driver:
        pytest.skip("not a build tree with CUDA")
    environment = {**os.environ, "LD_LIBRARY_PATH": old_driver}
    message = r"the NVIDIA driver is too old: it supports CUDA 11\.4, but this program needs CUDA \d+"
    result = raw(key, "-l", "cuda", env=environment, status=1)
    assert re.fullmatch(message, result.error) and result.out == b""
    if os.path.exists("/dev/nvidiactl"):
        warning, = stream("--list-lanes", env=environment).warnings
        assert re.fullmatch(message, warning)


@pytest.mark.parametrize("via", ["file", "pipe"])
def test_profilers_receive_ranges_of_the_work_on_every_chunk(key, via):
    """They nest, and all of them end. The recorder is a library that is loaded like NVIDIA's profilers."""
    recorder = os.environ.get("GPUAES_NVTX_RECORDER")
    if not recorder:
        pytest.skip("not a build tree with CUDA")
    plain = some_bytes(1_000_000)
    pathlib.Path("plain").write_bytes(plain)
    source = {"file": "plain", "pipe": "/dev/stdin"}[via]
    for lane in lanes():
        record = pathlib.Path(f"record {lane}")
        environment = {**os.environ, "NVTX_INJECTION64_PATH": recorder, "NVTX_RECORD": str(record)}
        raw(key, "-b", "64K", "-l", lane, "-o", "out", "-i", source, input=plain, env=environment)
        expect_same(openssl_ctr(plain), pathlib.Path("out").read_bytes(), lane)
        expect_ranges(record.read_text(), cuda=lane.startswith("cuda"))


def expect_ranges(record, cuda):
    seen, unfinished = collections.Counter(), collections.defaultdict(list)
    for line in record.splitlines():
        thread, act, *name = line.split()
        if act == "push":
            unfinished[thread] += name
            seen["/".join(unfinished[thread])] += 1
        else:
            unfinished[thread].pop()
    assert not any(unfinished.values())
    chunks = seen["write"]
    assert chunks > 1_000_000 // 65536
    work = ["enqueue", "enqueue/H2D", "enqueue/kernel", "enqueue/D2H", "device"] if cuda else ["cipher"]
    assert {name: seen[name] for name in work} == {name: chunks for name in work}
    # A CUDA lane with jobs in progress may look for more input and find none.
    assert seen["read"] >= chunks if cuda else seen["read"] == chunks
    # A CUDA device begins with one self-test, regardless of the number of lanes.
    assert seen["self-test"] == int(cuda)
    assert {name for name in seen if not name.startswith("self-test")} == {*work, "read", "write"}
