#!/usr/bin/env bash
# After a read error during encryption, the output cannot be opened completely, and the part that can be decrypted is a
# prefix of the plaintext.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *
import socket


def seal(*options, **popen):
    return subprocess.Popen([program, "-q", "-k", key, *options], stderr=subprocess.PIPE, **popen)


def must_not_open(sealed, data, what):
    done = subprocess.run([program, "-q", "-d", "-k", key], input=sealed, capture_output=True)
    expect_equal(4, done.returncode, f"{what}: exit status to decrypt {len(sealed)} bytes")
    expect_same(data[: len(done.stdout)], done.stdout, f"{what}: decrypted bytes")
    if len(done.stdout) % 16384:
        fail(f"{what}: expected whole segments, got {len(done.stdout)} bytes")


data = make_input(100000)
for size in (0, 10, 16384, 3 * 16384, 50000, 60000):  # less than the output pipe holds
    for chunk in ("16K", "1M") if size in (3 * 16384, 60000) else ("16K",):
        what = f"connection reset after {size} bytes, -b {chunk}"
        server = socket.create_server(("127.0.0.1", 0))
        stdin = socket.create_connection(server.getsockname())
        peer, _ = server.accept()
        r, w = os.pipe()
        child = seal("-b", chunk, stdin=stdin, stdout=w)
        os.close(w)
        stdin.close()
        peer.sendall(data[:size])
        wait_until_idle(child)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
        sealed = read_all(r)
        os.close(r)
        expect_exit(child, 1, what)
        error = child.stderr.read()
        if error.count(b"gpuaes-stream: error: ") != 1:
            fail(f"{what}: expected one error message, got {error!r}")
        must_not_open(sealed, data, what)

# A file that cannot be read, and one that shrinks while it is read.
child = seal("-i", "/proc/self/mem", stdout=subprocess.PIPE)
sealed = child.stdout.read()
expect_exit(child, 1, "/proc/self/mem")
must_not_open(sealed, b"", "/proc/self/mem")

data = make_input(64 << 20)
for left in ((32 << 20) + 12345, 32 << 20):
    what = f"a file that shrinks to {left} bytes"
    with open("file", "wb") as f:
        f.write(data)
    r, w = os.pipe()
    child = seal("-b", "64K", "-l", "cpu:2", "-i", "file", stdout=w)
    os.close(w)
    wait_until_stalled(r)
    os.truncate("file", left)
    sealed = read_all(r)
    os.close(r)
    expect_exit(child, 1, what)
    must_not_open(sealed, data, what)
PYTHON
