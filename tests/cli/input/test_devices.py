"""Devices and the files in /proc and /sys are read to their end or an error, with a wrong size or none."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess

import pytest

from page_cache import opened_at
from processes import expect_exit
from programs import expect_same, files_here, openssl_ctr, raw, some_bytes, start_raw, stream
from special_files import loop_device

SYSTEM_FILES = ["/proc/version", "/proc/filesystems", "/proc/crypto", "/sys/kernel/mm/transparent_hugepage/enabled",
                "/sys/kernel/cpu_byteorder", "/sys/kernel/fscaps", "/sys/devices/system/cpu/possible"]  # fmt: skip


def test_files_in_proc_and_sys(key):
    """Their size is not that of their content."""
    readable = [name for name in SYSTEM_FILES if os.access(name, os.R_OK)]
    for name in readable:
        want = openssl_ctr(pathlib.Path(name).read_bytes())
        for size in ("16", "1M"):
            assert raw(key, "-b", size, "-i", name).out == want, name
            with open(name, "rb") as file:
                assert raw(key, "-b", size, stdin=file).out == want, name
    if not readable:
        pytest.skip("cannot read any of these files")


# --- Character devices ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [["-i", "/dev/zero"], ["-b", "4K"]])
def test_a_device_without_an_end(key, options):
    """It is seekable."""
    read_end, write_end = os.pipe()
    with open("/dev/zero", "rb") as zeros, open(write_end, "wb") as output:
        child = start_raw(key, *options, stdin=zeros, stdout=output)
    with open(read_end, "rb") as output:
        expect_same(openssl_ctr(bytes(3_000_000)), output.read(3_000_000))
    expect_exit(child, -signal.SIGPIPE)


# --- Block devices -------------------------------------------------------------------------------------------------


def flush(device):
    """Removes its contents from the page cache."""
    subprocess.run(["blockdev", "--flushbufs", device], check=True)


@pytest.mark.root
def test_a_block_device(key):
    plain = some_bytes(3 * 1048576 + 512)
    want = openssl_ctr(plain)
    with loop_device(plain) as device:
        for prepare in (lambda device: None, flush):
            for size in ("64K", "1M"):
                prepare(device)
                expect_same(want, raw(key, "-b", size, "-i", device).out, f"-i {device}")
                prepare(device)
                with opened_at(0, device) as file:
                    expect_same(want, raw(key, "-b", size, stdin=file).out, f"<{device}")
            prepare(device)
            with opened_at(1000, device) as file:
                expect_same(openssl_ctr(plain[1000:]), raw(key, "-b", "256K", stdin=file).out, "from offset 1000")


@pytest.mark.root
def test_a_block_device_in_a_list(key):
    plain = some_bytes(1024 - len(stream("-k", key, input=b"").out))
    with loop_device(stream("-k", key, input=plain).out) as device:
        pathlib.Path("list").write_text(device)
        assert stream("-t", "-k", key, "--files-from", "list").out == f"{device}: ok\n".encode()


@pytest.mark.root
def test_output_to_a_block_device(key):
    plain = some_bytes(3 * 1048576 + 512)
    pathlib.Path("plain").write_bytes(plain)
    with loop_device(plain) as device:
        result = raw(key, "-i", device, "-o", device, status=2)
        assert (result.error, result.hint) == (f"{device} and --output are the same file", "write to another file")
        raw(key, "-i", "plain", "-o", device)
        assert pathlib.Path(device).is_block_device()
        expect_same(openssl_ctr(plain), pathlib.Path(device).read_bytes())
        result = raw(key, "-o", device, status=1, input=some_bytes(4 * 1048576), via="file")
        assert result.error == f"cannot write {device} after byte {len(plain)}: No space left on device"
        assert result.hint == "free some space, or write to another file system"


@pytest.mark.root
def test_a_bad_sector(key):
    """The error names the byte where reading failed, and the output before it is correct."""
    plain, good = some_bytes(8 << 20), 76 * 65536
    with loop_device(plain) as device:
        os.truncate("image", good)  # so the device cannot read the sectors after it
        flush(device)
        with contextlib.suppress(OSError):
            pathlib.Path(device).read_bytes()
            pytest.skip(f"{device} has no bad sectors")
        for lanes in ("cpu:1", "cpu:3"):
            for size in ("64K", "1M"):
                options = ["-b", size, "-l", lanes, "-i", device]
                flush(device)
                expect_bad_sector(raw(key, *options, status=1), device, good, openssl_ctr(plain))
                flush(device)
                raw(key, *options, "-o", "out", status=1)
                assert files_here() == ["image"]
        flush(device)
        with opened_at(1000, device) as file:
            result = raw(key, "-b", "256K", status=1, stdin=file)
        expect_bad_sector(result, "standard input", good - 1000, openssl_ctr(plain[1000:]))


def expect_bad_sector(result, name, good, want):
    """The kernel may have read the bad sector together with good ones before it."""
    found = re.fullmatch(rf"cannot read {name} at byte (\d+): Input/output error", result.error)
    assert found and len(result.out) <= int(found.group(1)) <= good, result.error
    expect_same(want[: len(result.out)], result.out, "output before the error")
