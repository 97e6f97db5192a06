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

# A file that is read directly from the disk.
data = make_input(8 << 20)
with open("file", "wb") as f:
    f.write(data)
evict("file")
for lanes in ("cpu:1", "cpu:3"):
    with open("file", "rb") as stdin:
        want = flags(stdin.fileno())
        drain, w = os.pipe()
        child = start("-b", "256K", "-l", lanes, stdin=stdin, stdout=w)
        os.close(w)
        wait_until_stalled(drain)
        expect_equal(want, flags(stdin.fileno()), f"{lanes}: flags of stdin while a file is read")
        expect_same(reference(data), read_all(drain), lanes)
        expect_exit(child, 0, lanes)
        expect_equal(want, flags(stdin.fileno()), f"{lanes}: flags of stdin after a file was read")
        os.close(drain)
PYTHON
