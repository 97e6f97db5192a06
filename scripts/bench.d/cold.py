"""A file that is not in the page cache, to /dev/null: every kind of lane next to other programs and to direct reads."""

import os

from contender import Contender
from fixture import evict, folder_in, make_random_file
from outputs import disk_folder
from units import words_of


def run(fixture):
    size = fixture.stream_size
    fixture.results.heading(f"file of {words_of(size)} that is not in the page cache to /dev/null")
    folder = disk_folder(fixture)
    if not folder:
        fixture.results.left_out("no folder on a disk")
        return
    with folder_in(folder) as work:
        source = os.path.join(work, "in")
        make_random_file(source, size)
        if evict(source):
            measure(fixture, source, size)
        else:
            fixture.results.left_out("the system keeps the file in the page cache")


def measure(fixture, source, size):
    direct = Contender("dd iflag=direct", ["dd", f"if={source}", "of=/dev/null", "bs=8M", "iflag=direct", "status=none"],
                       program="dd iflag=direct", action="copy")
    cat = Contender("cat", ["cat"], source, action="copy")
    ours = [fixture.ours("sealed", lanes, source) for lanes in ("cpu:1", "cpu", *fixture.cuda_lanes(), "auto", "auto:low-cpu")]
    openssl, age = fixture.openssl(source), [fixture.ours("age", "auto", source), *fixture.age_rivals("age", source)]
    contenders = [direct, cat, *ours, openssl, *age]
    for c in contenders:
        c.prepare = lambda: evict(source)
    fixture.compare(words_of(size), contenders, size)
