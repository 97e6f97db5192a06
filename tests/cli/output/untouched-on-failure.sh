#!/usr/bin/env bash
# If the program fails, it does not create the output of -o, leaves an existing file unchanged, and leaves no other
# file.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

make_input 100000 plain
printf 'old' >old
printf 'short' >"$work/bad-key"
mkdir directory

both() { # STATUS OPTION...: with a new and with an old output file
  local status=$1
  shift
  for out in new old; do expect_exit "$status" "$@" -o "$out"; done
}
both 1 gs -i missing
both 1 gs -i directory
both 2 gs -i plain -b 0
both 2 gs -i plain -l nonsense
both 2 "$program" -f raw --iv "$iv" -k "$work/bad-key" -i plain
both 1 "$program" -f raw --iv "$iv" -k missing -i plain
both 1 gs -i plain --stats missing/stats
rmdir directory
expect_files old plain
[ "$(<old)" = old ] || fail "expected the old content"

# A read error in the middle of the stream: the peer resets the connection.
python <<'PYTHON'
from harness import *
import socket

for out in ("new", "old"):
    server = socket.create_server(("127.0.0.1", 0))
    stdin = socket.create_connection(server.getsockname())
    peer, _ = server.accept()
    child = start("-b", "4K", "-o", out, stdin=stdin, stderr=subprocess.PIPE)
    peer.sendall(make_input(50000))
    wait_until_idle(child)
    if os.path.exists("new"):
        fail("expected no output file before the end")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
    expect_exit(child, 1, "read error in the middle")
    if b"gpuaes-stream: error: " not in child.stderr.read():
        fail("read error in the middle: expected an error message")
PYTHON
expect_files old plain
[ "$(<old)" = old ] || fail "expected the old content after a read error"
