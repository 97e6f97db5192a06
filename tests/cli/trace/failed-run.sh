#!/usr/bin/env bash
# However a run ends, its trace is complete JSON and shows everything up to that point. A run that fails before it
# starts work does not touch an existing trace.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

# Damaged input.
make_input 3000000 plain
expect_exit 0 gsealed -i plain -o sealed
perl -e 'open F, "+<", "sealed"; seek F, 2000000, 0; print F "!!!!!!!!"'
expect_exit 4 gsealed -d -i sealed -b 64K --trace damaged
expect_exit 4 gsealed -d -i sealed -b 64K -o out --trace damaged-o
# shellcheck disable=SC2002 # the input must be a pipe
from_pipe() { cat sealed | gsealed -d -b 64K --trace damaged-pipe; }
expect_exit 4 from_pipe
# An output that fails.
full() { gs -i plain -b 64K --trace full >/dev/full; }
expect_exit 1 full
expect_files damaged damaged-o damaged-pipe full plain sealed

printf old >old
expect_exit 2 "$program" -f raw -i plain -k "$key" --trace old
head -c 100 sealed >short
expect_exit 4 gsealed -d -i short --trace old
no_memory() { (ulimit -v 1000000 && gsealed -i plain -b 1G -l cpu:1 --trace old -o none); }
sanitized || { expect_exit 1 no_memory && expect_stderr 'hint: use a smaller --chunk-size$'; }
[ "$(<old)" = old ] || fail "expected the existing trace to be unchanged"

python <<'PYTHON'
from trace_harness import *

# The trace goes to a pipe whose reader waits until it is full; then the consumer of the output goes away.
r, w = os.pipe()
child = start("-i", "plain", "-b", "64", "--trace", f"/dev/fd/{w}", stdout=subprocess.PIPE, pass_fds=[w])
os.close(w)
os.read(child.stdout.fileno(), 1)
wait_until_stalled(r)
child.stdout.close()
with open("to-pipe", "wb") as f:
    f.write(read_all(r))
expect_exit(child, -signal.SIGPIPE, "consumer gone")
for name in ("damaged", "damaged-o", "damaged-pipe", "to-pipe", "full"):
    written = pieces(load(name), "write")
    if not written:
        fail(f"{name}: expected written chunks")
    expect_equal(list(range(len(written))), [chunk for chunk, _, _ in written], f"{name}: written chunks")

# Signals: at work, and while waiting for the input, the output, or the trace itself.
os.mkfifo("fifo")
for number in (signal.SIGINT, signal.SIGTERM):
    child = start("-i", "/dev/zero", "-o", "/dev/null", "--trace", "at-work")
    time.sleep(1 if slow else 0.2)
    expect_death_by(child, number, "at work")
    if len(pieces(load("at-work"), "write")) < 2:
        fail("at work: expected written chunks")

    r, w = os.pipe()
    child = start("-b", "4K", "--trace", "reading", stdin=r)
    write_all(w, make_input(40960))
    wait_until_idle(child)
    expect_death_by(child, number, "waiting for input")
    expect_equal(40960, sum(count for _, _, count in pieces(load("reading"), "write")), "waiting for input: bytes")
    os.close(r), os.close(w)

    r, w = os.pipe()
    child = start("-i", "/dev/zero", "--trace", "writing", stdout=w)
    os.close(w)
    wait_until_stalled(r)
    expect_death_by(child, number, "stalled consumer")
    load("writing")
    os.close(r)

    r = os.open("fifo", os.O_RDWR)
    child = start("-i", "/dev/zero", "-b", "4K", "--trace", "fifo")
    wait_until_stalled(r)
    expect_death_by(child, number, "stalled reader of the trace")
    os.close(r)
PYTHON
