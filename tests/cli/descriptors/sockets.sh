#!/usr/bin/env bash
# stdin and stdout may be sockets, even the same socket.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *
import socket

data = make_input(2000001)
want = reference(data)
for one in (False, True):
    what = "one socket as both" if one else "two sockets"
    ours_in, stdin = socket.socketpair()
    ours_out, stdout = (ours_in, stdin) if one else socket.socketpair()
    child = start("-b", "64K", stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)
    stdin.close()
    stdout.close()

    def feeder():
        ours_in.sendall(data)
        ours_in.shutdown(socket.SHUT_WR)

    thread = threading.Thread(target=feeder, daemon=True)
    thread.start()
    got = read_all(ours_out.fileno())
    expect_exit(child, 0, what)
    expect_same(want, got, what)
PYTHON
