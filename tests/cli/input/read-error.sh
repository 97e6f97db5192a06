#!/usr/bin/env bash
# A read error is not mistaken for the end of input: the program fails with status 1.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

expect_exit 1 gs -i /proc/self/mem
need python3
python <<'PYTHON'
from harness import *
import socket

server = socket.create_server(("127.0.0.1", 0))
stdin = socket.create_connection(server.getsockname())
peer, _ = server.accept()
r, w = os.pipe()
child = start("-b", "4K", stdin=stdin, stdout=w, stderr=subprocess.PIPE)
os.close(w)
data = make_input(100000)
peer.sendall(data[:60000])  # less than the output pipe holds
wait_until_idle(child)
peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
peer.close()
got = read_all(r)
expect_exit(child, 1, "connection reset")
error = child.stderr.read()
if error.count(b"gpuaes-stream: error: ") != 1:
    fail(f"connection reset: expected one error message, got {error!r}")
expect_same(reference(data)[: len(got)], got, "connection reset: output before the error")
PYTHON
