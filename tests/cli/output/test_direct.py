"""Large outputs are written directly to the disk: their bytes are right, and they are not in the page cache."""

import contextlib
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time

import pytest

from control_group import control_group
from file_systems import expect_files
from page_cache import cached_bytes, need_direct_reads
from parts_steps import attempts, join, plan, seal, slow_seal, write_input
from processes import evict, feed, finish, wait_until_idle
from programs import (SANITIZED, expect_same, keygen, openssl_ctr, parts, raw, secret_file, some_bytes, sparse, start,
                      stream)
from special_files import attached, mounted_by, shell

MIB = 1 << 20
PLAIN = some_bytes(70 * MIB + 12345)
MAKE = {
    "ext4": "mkfs.ext4 -q",
    "ext4-blocks-of-1K": "mkfs.ext4 -q -b 1024",
    "ext4-sectors-of-4K": "mkfs.ext4 -q",
    "xfs": "mkfs.xfs -q",
    "xfs-sectors-of-4K": "mkfs.xfs -q",
    "btrfs": "mkfs.btrfs -q",
}
MOUNT = {
    "overlayfs": "mount -t overlay -o lowerdir=ext4/low,upperdir=ext4/up,workdir=ext4/work none",
    "bindfs": "bindfs ext4/up",
    "tmpfs": "mount -t tmpfs -o size=400M none",
}
DIRECT = {*MAKE} - {"btrfs"}  # Btrfs compresses data; overlayfs depends on the kernel


@contextlib.contextmanager
def made(kind, folder):
    """A file system with 400 MiB of the given kind is mounted at the folder."""
    sparse("image", 400 * MIB)
    with attached("image", 4096 if kind.endswith("sectors-of-4K") else 512) as device:
        shell(f"PATH=$PATH:/sbin:/usr/sbin {MAKE[kind]} {device}")
        with mounted_by(f"mount {device}", folder):
            shutil.rmtree(f"{folder}/lost+found", ignore_errors=True)
            yield


@pytest.fixture
def disk(request, work):
    """A file system of the given kind is mounted at `disk`."""
    pathlib.Path("plain").write_bytes(PLAIN)
    with contextlib.ExitStack() as mounts:
        if request.param in MAKE:
            mounts.enter_context(made(request.param, "disk"))
        else:
            mounts.enter_context(made("ext4", "ext4"))
            for name in "low", "up", "work":
                os.mkdir(f"ext4/{name}")
            mounts.enter_context(mounted_by(MOUNT[request.param], "disk"))
        yield request.param


def expect_space(name):
    """The file has no more space than it needs."""
    assert os.stat(name).st_blocks * 512 < os.path.getsize(name) + MIB


@pytest.mark.root
@pytest.mark.parametrize("disk", [*MAKE, *MOUNT], indirect=True)
def test_a_large_output(key, disk):
    """Its size is known at the beginning, or not."""
    for options, source in (["-i", "plain"], None), ([], PLAIN), (["-b", "100K"], PLAIN):
        stream("-q", "-k", key, *options, "-o", "disk/out", input=source)
        if disk in DIRECT:
            assert cached_bytes("disk/out") < 2 * MIB
        expect_space("disk/out")
        expect_files("disk", ["out"])
        expect_same(PLAIN, stream("-q", "-d", "-k", key, "-i", "disk/out").out)


@pytest.mark.root
@pytest.mark.parametrize("disk", ["ext4", "xfs-sectors-of-4K"], indirect=True)
def test_outputs_that_end_near_a_block(key, disk):
    encrypted = openssl_ctr(PLAIN)
    for extra in MIB, 4097, 4096, 512, 1, 0, -1:
        size = 65 * MIB + extra
        os.truncate("plain", size)
        raw(key, "-i", "plain", "-o", "disk/out")
        assert cached_bytes("disk/out") < 2 * MIB
        expect_same(encrypted[:size], pathlib.Path("disk/out").read_bytes())


@pytest.mark.root
@pytest.mark.parametrize("disk", ["ext4"], indirect=True)
def test_other_large_outputs(key, disk):
    """Armor, other formats, new keys. Decrypted data, and a small output, stay in the page cache."""
    new_key = secret_file("new-key", bytes(32))
    stream("-q", "-k", key, "-f", "sealed", "--armor", "-i", "plain", "-o", "disk/armored")
    assert cached_bytes("disk/armored") < 2 * MIB
    stream("-q", "-d", "-k", key, "-i", "disk/armored", "-o", "disk/opened")
    assert cached_bytes("disk/opened") > 64 * MIB
    expect_same(PLAIN, pathlib.Path("disk/opened").read_bytes())
    os.unlink("disk/armored")
    stream("-q", "-k", key, "-i", "plain", "-o", "disk/sealed")
    stream("--rekey", "-q", "-k", key, "--new-key", new_key, "disk/sealed")
    assert cached_bytes("disk/sealed") < 2 * MIB
    expect_same(PLAIN, stream("-q", "-d", "-k", new_key, "-i", "disk/sealed").out)
    stream("-q", "-k", key, "-o", "disk/small", input=PLAIN[:10 * MIB])
    assert cached_bytes("disk/small") > 10 * MIB


@pytest.mark.root
@pytest.mark.parametrize("disk", ["ext4"], indirect=True)
def test_a_small_part_of_a_large_input(key, disk):
    """Only its own size counts, also for the space that is allocated."""
    plan(key, "disk/dir", input="plain", count=10)
    seal("disk/dir", 0)
    assert cached_bytes("disk/dir/part.0000000") > 6 * MIB


@pytest.mark.root
@pytest.mark.skipif(SANITIZED, reason="sanitizers need more memory")
@pytest.mark.parametrize("disk", ["ext4"], indirect=True)
@pytest.mark.parametrize("shared", [False, True], ids=["-o", "--into"])
def test_decrypted_data_that_would_displace_much_of_the_cache(key, disk, shared):
    """It is more than half of the memory that the program may use."""
    def limit_memory():
        resource.setrlimit(resource.RLIMIT_DATA, (110 * MIB, 110 * MIB))

    stream("-q", "-k", key, "-i", "plain", "-o", "sealed")
    outputs = [["--share", f"{i}/2", "--into"] for i in range(2)] if shared else [["-o"]]
    for output in outputs:
        stream("-q", "-d", "-k", key, "-i", "sealed", *output, "disk/opened", preexec_fn=limit_memory)
    assert cached_bytes("disk/opened") < 2 * MIB
    expect_space("disk/opened")
    expect_same(PLAIN, pathlib.Path("disk/opened").read_bytes())


@pytest.mark.root
@pytest.mark.skipif(SANITIZED, reason="sanitizers need more memory")
@pytest.mark.parametrize("disk", ["ext4"], indirect=True)
def test_64_mib_of_memory_is_enough(key, disk):
    with control_group() as group:
        group.limit(64 * MIB)
        stream("-q", "-k", key, "-i", "plain", "-o", "disk/sealed", wrap=group.run_in)
        stream("-q", "-d", "-k", key, "-i", "disk/sealed", "-o", "disk/opened", wrap=group.run_in)
    expect_same(PLAIN, pathlib.Path("disk/opened").read_bytes())


@pytest.mark.root
@pytest.mark.parametrize("disk", ["ext4"], indirect=True)
def test_neither_a_cold_input_nor_its_output_is_cached(key, disk):
    write_input("disk/plain", PLAIN)
    need_direct_reads("disk/plain")
    keygen("--x25519", "-o", "identity")
    for secret in ["-k", key], ["-R", "identity.pub"]:
        evict("disk/plain")
        stream("-q", *secret, "-i", "disk/plain", "-o", "disk/out")
        assert cached_bytes("disk/plain") + cached_bytes("disk/out") < 4 * MIB
    stream("-q", "-k", key, "-i", "disk/plain", "-o", "disk/sealed")
    new_key = secret_file("new-key", bytes(32))
    stream("--rekey", "-q", "-k", key, "--new-key", new_key, "disk/sealed", "-o", "disk/out")
    assert cached_bytes("disk/sealed") + cached_bytes("disk/out") < 4 * MIB
    expect_same(PLAIN, stream("-q", "-d", "-k", new_key, "-i", "disk/out").out)
    plan(key, "disk/dir", input="disk/plain", count=1)
    seal("disk/dir", 0)
    join("disk/dir", "-o", "disk/out")
    assert sum(map(cached_bytes, ["disk/plain", "disk/dir/part.0000000", "disk/out"])) < 8 * MIB
    expect_same(PLAIN, stream("-q", "-d", "-k", key, "-i", "disk/out").out)


@pytest.mark.root
@pytest.mark.parametrize("disk", ["ext4"], indirect=True)
def test_parts(key, disk):
    """A part, also elsewhere, and the single file. If the size is not known, the part's header is overwritten at the
    end."""
    for name in "known", "unknown":
        plan(key, f"disk/{name}", count=1)
        for output, options in (f"disk/{name}/part.0000000", []), ("disk/part", ["-o", "disk/part", "--receipt", "receipt"]):
            with open("plain", "rb") as plain:
                seal(f"disk/{name}", 0, "-q", *options, **({"stdin": plain} if name == "known" else {"input": PLAIN}))
            assert cached_bytes(output) < 2 * MIB
        join(f"disk/{name}", "-o", "disk/joined")
        assert cached_bytes("disk/joined") < 2 * MIB
        expect_same(PLAIN, stream("-q", "-d", "-k", key, "-i", "disk/joined").out)


@pytest.mark.root
@pytest.mark.parametrize("disk", ["ext4", "xfs"], indirect=True)
def test_the_progress_of_a_part(key, disk):
    """Space allocated ahead of the data does not count."""
    plan(key, "disk/dir", count=1)
    with slow_seal("disk/dir", 0, written=PLAIN) as process:
        wait_until_idle(process)
        [size] = attempts("disk/dir").values()
        [attempt] = json.loads(parts("status", "--json", "disk/dir").out)["attempts"]
        assert 64 * MIB < attempt["bytes"] < len(PLAIN) + MIB < size


@pytest.mark.root
@pytest.mark.parametrize("disk", ["ext4", "xfs"], indirect=True)
def test_a_disk_that_becomes_full(key, disk):
    """The size of the output is not known."""
    pathlib.Path("disk/old").write_bytes(b"old")
    sparse("zeros", 500 * MIB)
    for output in "disk/new", "disk/old":
        with open("zeros", "rb") as zeros:
            cat = subprocess.Popen(["cat"], stdin=zeros, stdout=subprocess.PIPE)
            found = stream("-q", "-k", key, "-o", output, stdin=cat.stdout, status=1)
            cat.stdout.close()
            cat.wait()
        words = found.error.split(" after byte ")
        assert words[0] == f"cannot write {output}" and words[1].endswith(": No space left on device"), found.error
        assert int(words[1].split(":")[0]) > 250 * MIB
        expect_files("disk", ["old"])
        assert pathlib.Path("disk/old").read_bytes() == b"old"


@pytest.mark.root
@pytest.mark.parametrize("disk", ["ext4"], indirect=True)
def test_other_programs_keep_most_of_the_free_space(key, disk):
    """While the size of the output is not known."""
    child = start("gpuaes-stream", "-q", "-k", key, "-o", "disk/out", stdin=subprocess.PIPE)
    free = shutil.disk_usage("disk").free
    feed(child, PLAIN)
    taken = free - shutil.disk_usage("disk").free
    assert 64 * MIB < taken < 110 * MIB
    child.stdin.close()
    assert finish(child) == 0


@pytest.mark.root
@pytest.mark.parametrize("disk", ["ext4"], indirect=True)
def test_a_killed_process_leaves_the_old_file_or_a_complete_one(key, disk):
    pathlib.Path("disk/out").write_bytes(b"old")
    command = ["gpuaes-stream", "-q", "-k", key, "-i", "plain", "-o", "disk/out"]
    begin = time.monotonic()
    assert finish(start(*command)) == 0
    took = time.monotonic() - begin
    found = []
    for i in range(8):
        pathlib.Path("disk/out").write_bytes(b"old")
        child = start(*command)
        time.sleep(took * i / 7)
        child.kill()
        found.append(finish(child))
        if pathlib.Path("disk/out").read_bytes() != b"old":
            expect_same(PLAIN, stream("-q", "-d", "-k", key, "-i", "disk/out").out)
    assert found[0] == -signal.SIGKILL


@pytest.mark.root
@pytest.mark.parametrize("disk", ["ext4"], indirect=True)
def test_a_signal_leaves_nothing(key, disk):
    child = start("gpuaes-stream", "-q", "-k", key, "-o", "disk/out", stdin=subprocess.PIPE)
    feed(child, PLAIN)
    child.send_signal(signal.SIGTERM)
    assert finish(child) == -signal.SIGTERM
    expect_files("disk", [])
