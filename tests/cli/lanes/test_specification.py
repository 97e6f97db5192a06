"""Lane specifications and numbers of threads that cannot be used are refused with a hint."""

import pathlib
import re

import pytest

from programs import (IV, NO_CUDA, RAW, each_way, expect_same, files_here, has_cuda, openssl_ctr, raw, some_bytes,
                      stream)

SYNTAX = "use auto, auto:low-cpu, or cpu[:THREADS] and cuda[:DEVICE[:STREAMS]] joined by +"
THREADS = "the number of threads must be from 1 to 1024"
STREAMS = "the number of streams must be from 1 to 64"
DEVICE = "the device number must be from 0 to 9999"
BAD = {
    SYNTAX: ("foo", "", "+", "cpu+", "+cpu", "cpu++cpu", "cpu:1:2", "cpu:1:", "cpu,cuda", "cpux", "CPU", "cuda:0:1:1",
             "cpu+foo", "auto:1", "auto+", "auto:", "auto:low", "low-cpu", "auto:low-cpu+cpu",
             "reference"),
    THREADS: ("cpu:", "cpu:0", "cpu:-1", "cpu:+1", "cpu:x", "cpu:1x", "cpu:1.5", "cpu:0x1", "cpu: 1",
              "cpu:99999999999999999999", "cpu:1025", "cuda+cpu:x"),
    STREAMS: ("cuda:0:0", "cuda:0:x", "cuda:0:", "cuda:0:-1", "cuda:0:65"),
    DEVICE: ("cuda:", "cuda:x", "cuda:-1", "cuda:99999999999999999999", "cuda:10000"),
    "use cpu:2 to set the number of CPU threads": ("2",),
}  # fmt: skip


def test_an_invalid_specification_is_refused(key, batch):
    cases = [(lanes, hint) for hint, all_lanes in BAD.items() for lanes in all_lanes]
    for run, (lanes, hint) in each_way(batch, cases):
        result = run(*RAW, "-k", key, "-l", lanes, status=2)
        assert (result.error, result.hint) == (f"invalid lane specification '{lanes}'", hint)


@pytest.mark.parametrize("number", ["0", "-1", "+1", "1025", "x", "1x", "1+cpu", "auto", "", " 1"])
def test_an_invalid_number_of_threads_is_refused(key, number):
    result = raw(key, "-T", number, "plain", status=2)
    assert result.error == f"invalid --threads '{number}'"
    assert result.hint == "use a number from 1 to 1024, or omit the option to let the program choose"


@pytest.mark.parametrize("options", ["-T 2 -l cpu:2", "-l auto:low-cpu -T 1"])
def test_lanes_and_threads_exclude_each_other(key, options):
    result = raw(key, *options.split(), "plain", status=2)
    assert (result.error, result.hint) == ("--lanes and --threads cannot be used together", "")


@pytest.mark.parametrize("option", ["-T3", "-T 3", "--threads 3", "--threads=3"])
def test_threads_are_cpu_lanes(key, option):
    pathlib.Path("plain").write_bytes(some_bytes(1_000_000))
    result = stream("-v", "-f", "raw", "--iv", IV, "-k", key, *option.split(), "plain")
    expect_same(openssl_ctr(some_bytes(1_000_000)), result.out)
    assert "lanes cpu:3" in result.notes


def test_a_cuda_device_that_does_not_exist_is_an_error(key):
    """The program fails at the start instead of silently using the CPU."""
    pathlib.Path("plain").write_bytes(some_bytes(1000))
    if has_cuda():
        error = "there is no CUDA device 99; this machine has [0-9]+"
        hint, all_lanes = "run gpuaes-stream --list-lanes to list the devices", ["cuda:99", "cpu:1+cuda:99"]
    else:
        error, hint = NO_CUDA, "use -l cpu, which works on every machine"
        all_lanes = ["cuda:99", "cpu:1+cuda:99", "cuda", "cuda:0", "cuda:0:2", "cpu+cuda:0"]
    for lanes in all_lanes:
        for options in ([], ["-o", "out"]):
            result = raw(key, "-l", lanes, "-i", "plain", *options, status=1)
            assert re.fullmatch(error, result.error) and result.hint == hint, lanes
            assert result.out == b"" and files_here() == ["plain"], lanes
