"""Lanes that are named are used, or the run fails."""

import pathlib
import re

from programs import NO_CUDA, files_here, has_cuda, raw, some_bytes


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
