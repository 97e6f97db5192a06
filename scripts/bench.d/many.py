"""Many files on a disk, each encrypted to a file of its own: by one run of this program, and by one run per file, of this
program and of age, one after the other and on all CPUs. The outputs are on the disk when a run ends."""

import os
import shutil

from contender import Contender
from fixture import folder_in
from outputs import disk_folder
from units import KI, MI, words_of

CASES = ((500, 4 * KI), (100, 16 * MI))  # files, and the size of each

# $1: the recipient. $2: the number of CPUs. The rest is the program.
DIR = '"$3" -q -r "$1" --output-dir out in/*'
LOOP = 'for name in in/*; do "$3" -r "$1" -o "out/$name" "$name" || exit; done; sync -f out'
XARGS = 'printf "%s\\0" in/* | xargs -0 -P "$2" -I NAME "$3" -r "$1" -o out/NAME NAME && sync -f out'


def run(fixture):
    folder = disk_folder(fixture)
    if not folder:
        fixture.results.left_out("no folder on a disk")
        return
    for count, size in CASES:
        if fixture.quick:
            count, size = count // 10, min(size, MI)
        with folder_in(folder) as work:
            measure(fixture, work, count, size)


def measure(fixture, work, count, size):
    case = f"{count} files of {words_of(size)}"
    fixture.results.heading(f"{case}, on a disk")
    os.mkdir(os.path.join(work, "in"))
    for i in range(count):
        with open(os.path.join(work, "in", str(i)), "wb") as file:
            file.write(os.urandom(size))
    os.sync()

    def clear():
        shutil.rmtree(os.path.join(work, "out"), ignore_errors=True)
        os.makedirs(os.path.join(work, "out", "in"))

    def contender(name, script, program):
        words = ["sh", "-c", f'cd "$0" && {script}', work, fixture.recipient, str(fixture.cpus), program]
        made = Contender(name, words, format="age", action="encrypt")
        made.prepare = clear
        return made

    ways = {"one run": DIR, "a loop": LOOP, "xargs": XARGS}
    contenders = [contender(f"gpuaes-stream, {name}", script, fixture.program) for name, script in ways.items()]
    if "age" in fixture.installed:
        contenders += [contender(f"age, {name}", ways[name], "age") for name in ("a loop", "xargs")]
    fixture.compare(case, contenders, count * size)
