#!/usr/bin/env bash
# A command after -- gets only the standard streams, and the signal actions that the program was started with.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *


def output_of(*command, **popen):
    """What the command printed when the program ran it, with as many files open as possible."""
    outputs = ("-o", "out", "--stats", "stats", "--trace", "trace")
    child = spawn("-q", "-k", key, *outputs, "--", *command, **popen)
    finish(child, command[0])
    expect_equal(0, child.returncode, f"{command[0]}: return code")
    return subprocess.run([program, "-d", "-q", "-k", key, "-i", "out"], capture_output=True, check=True).stdout.decode()


expect_equal(["0", "1", "2", "3"], output_of("ls", "/proc/self/fd").split(), "descriptors, with the one of ls itself")


def signal_sets(ignore=()):
    """The ignored and the blocked signals."""
    status = output_of("cat", "/proc/self/status", ignore=ignore)
    ignored, blocked = (int(re.search(f"{name}:\\s*(\\w+)", status)[1], 16) for name in ("SigIgn", "SigBlk"))
    # The C library ignores the two that it uses itself.
    return {number for number in range(1, 32) if ignored >> (number - 1) & 1}, blocked


expect_equal((set(), 0), signal_sets(), "signals")
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
    expect_equal(({number}, 0), signal_sets(ignore=[number]), f"{number.name} ignored")

# Without SIGCHLD, the system does not report how a command ended.
for status in (0, 3):
    child = subprocess.Popen(
        [program, "-q", "-k", key, "--", "sh", "-c", f"exit {status}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
    )
    expect_exit(child, int(status != 0), f"SIGCHLD ignored, status {status}")
PYTHON
