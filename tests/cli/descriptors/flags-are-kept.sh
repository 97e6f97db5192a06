#!/usr/bin/env bash
# The flags of stdin and stdout, which other processes share, stay the same while the program runs and after it ends.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *

data = make_input(300000)


def run(nonblocking, stop):
    what = f"non-blocking: {nonblocking or 'none'}, {stop}"
    r, feed = os.pipe()
    drain, w = os.pipe()
    for name, fd in (("stdin", r), ("stdout", w)):
        if name in nonblocking:
            set_nonblocking(fd)
    want = (flags(r), flags(w))

    def check(when):
        expect_equal(want, (flags(r), flags(w)), f"{what}: flags of stdin and stdout {when}")

    child = start("-b", "4K", stdin=r, stdout=w)
    write_all(feed, data[:1000])
    wait_until_idle(child)
    check("while waiting")
    if stop == "signal":
        expect_death_by(child, signal.SIGTERM, what)
    else:
        got = bytearray()

        def reader():
            while len(got) < len(data):
                got.extend(os.read(drain, 1 << 16))

        thread = threading.Thread(target=reader, daemon=True)
        thread.start()
        write_all(feed, data[1000:])
        os.close(feed)
        expect_exit(child, 0, what)
        thread.join(PATIENCE)
        expect_same(reference(data), bytes(got), what)
    check("after the end")


for nonblocking in ([], ["stdin"], ["stdout"], ["stdin", "stdout"]):
    for stop in ("end of input", "signal"):
        run(nonblocking, stop)
PYTHON
