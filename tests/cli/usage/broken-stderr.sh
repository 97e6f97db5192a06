#!/usr/bin/env bash
# If messages cannot be written, neither the output nor the exit status changes.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

make_input 100000 plain
reference <plain >expected
full() { "$program" -f raw --iv "$iv" -k "$key" "$@" 2>/dev/full; }
expect_exit 0 full -v -i plain
same expected "$work/stdout"
rc=0
full -i missing || rc=$?
[ "$rc" = 1 ] || fail "expected exit status 1, got $rc"

python <<'PYTHON'
from harness import *

cases = (
    (["-f", "raw", "-v", "-i", "plain", "-o", "out"], 0),
    (["-f", "raw", "-i", "missing"], 1),
    (["-f", "nonsense"], 2),
    (["-f", "raw", "--no-such-option"], 2),
)
for options, want in cases:
    r, w = os.pipe()
    os.close(r)
    child = subprocess.Popen(
        [program, *options, "--iv", iv, "-k", key],
        stdin=subprocess.DEVNULL,
        stderr=w,
        preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL),
    )
    os.close(w)
    expect_exit(child, want, f"stderr is a pipe without a reader, {options}")
PYTHON
same expected out
