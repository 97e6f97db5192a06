#!/usr/bin/env bash
# If the reader of the output goes away, SIGPIPE ends the program without a message. If SIGPIPE is ignored, the program
# reports an error.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

gone() { # default|ignore: an endless input, and a consumer of one byte; returns the program's status
  env "--$1-signal=PIPE" "$program" -f raw --iv "$iv" -q -k "$key" -i /dev/zero | head -c 1 >/dev/null
  return "${PIPESTATUS[0]}"
}
set +o pipefail
expect_exit 141 gone default
expect_empty "$work/stderr"
expect_exit 1 gone ignore
expect_stderr 'pipe|write'

python <<'PYTHON'
from harness import *

for options in (["-i", "/dev/zero"], ["-i", "sparse"]):
    with open("sparse", "wb") as f:
        f.truncate(1 << 30)
    child = start(*options, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.read(child.stdout.fileno(), 1)
    child.stdout.close()
    expect_exit(child, -signal.SIGPIPE, "consumer gone")
    expect_equal(b"", child.stderr.read(), "consumer gone: stderr")

os.mkfifo("fifo")
r = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK)
child = start("-i", "/dev/zero", "-o", "fifo", stderr=subprocess.PIPE)
wait_until_stalled(r)
os.close(r)
expect_exit(child, -signal.SIGPIPE, "consumer of a FIFO gone")
expect_equal(b"", child.stderr.read(), "consumer of a FIFO gone: stderr")
PYTHON
