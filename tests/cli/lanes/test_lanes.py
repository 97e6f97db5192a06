"""The output does not depend on the lanes. Their number follows from the options, the CPUs and the input."""

import itertools
import json
import os
import pathlib
import re
import shutil

import pytest

from page_cache import evict, need_direct_reads
from programs import RAW, SANITIZED, User, each_way, expect_same, files_here, openssl_ctr, raw, some_bytes, stream

PLAIN = some_bytes(3_000_001)


@pytest.fixture
def plain():
    pathlib.Path("plain").write_bytes(PLAIN)


def test_any_number_of_cpu_lanes(key, batch):
    sealed = openssl_ctr(PLAIN)
    directions = (([], PLAIN, sealed), (["-d"], sealed, PLAIN))
    cases = itertools.product(("auto", "cpu", "cpu:1", "cpu:2", "cpu:3", "cpu:7"), ("16K", "1M"), directions)
    for run, (lanes, size, (direction, data, want)) in each_way(batch, cases):
        result = run(*RAW, "-k", key, *direction, "-l", lanes, "-b", size, input=data, via="file")
        expect_same(want, result.out, f"{direction} -l {lanes} -b {size}")


def test_every_lane_in_the_list_works(key):
    lanes = re.findall(r"^([a-z]+(?::\d+)?)\t", stream("--list-lanes").out.decode(), re.M)
    assert lanes[0].startswith("cpu:") and all(lane.startswith("cuda:") for lane in lanes[1:])
    for lane in ("cpu", *lanes[1:]):
        expect_same(openssl_ctr(PLAIN), raw(key, "-l", lane, input=PLAIN, via="file").out, lane)


def test_a_file_on_disk_gets_four_lanes_even_with_one_cpu(key):
    pathlib.Path("plain").write_bytes(some_bytes(8_000_003))
    need_direct_reads("plain")

    def use_one_cpu():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    for make_ready, count in ((evict, 4), (lambda name: pathlib.Path(name).read_bytes(), 1)):
        make_ready("plain")
        raw(key, "-b", "256K", "-l", "cpu", "--stats", "stats", "-i", "plain", preexec_fn=use_one_cpu)
        assert len(json.loads(pathlib.Path("stats").read_text())["lanes"]) == count


@pytest.mark.root
def test_a_thread_that_the_system_refuses_is_an_error(key, plain, users):
    if SANITIZED or not shutil.which("prlimit"):
        pytest.skip("needs prlimit, and no sanitizer, which would need threads of its own")
    alone = User(65531, 65531, users[0].folder)  # has no other processes
    for name in (".", key):
        os.chown(name, alone.uid, alone.uid)
    options = ["-k", key, "-l", "cpu:4", "-i", "plain", "-o", "out"]
    result = stream(*options, status=1, user=alone, wrap=["prlimit", "--nproc=1"])
    assert (result.error, result.hint) == (
        "cannot create a thread or another system resource: Resource temporarily unavailable",
        "allow more processes and threads, for example with ulimit -u")
    assert files_here() == ["plain"]
