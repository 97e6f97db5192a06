"""Between two pipes: cat FILE | PROGRAM | cat >/dev/null."""

import shutil

from contender import Contender, fastest, take_turns
from units import words_of


def run(fixture):
    size = fixture.stream_size
    fixture.results.heading(f"cat FILE | PROGRAM | cat >/dev/null, {words_of(size)}")
    copies = [Contender(f"copy, {each}", [fixture.bench, "copy", each], program="gpuaes-bench copy", action="copy", lanes="cpu:1")
              for each in ("64K", "256K", "1M")]
    ours = [fixture.ours("open", "auto"), fixture.ours("sealed", "auto:low-cpu")]
    ours += [fixture.ours(form, lanes, cipher=cipher) for lanes in ["auto", *fixture.cuda_lanes()[:1]]
             for cipher in ("aes-256", "kuznyechik") for form in ("raw", "sealed")]
    tools = [Contender(name, [name, *options], action="copy") for name, options in (("cat", []), ("pv", ["-q"]))
             if shutil.which(name)]
    openssl = fixture.openssl()
    for slow in [*tools, openssl]:
        slow.every = 2
    plain, sealed = ["cat", fixture.file_of(size)], ["cat", fixture.encrypted(size)]
    contenders = [*copies, *ours, *tools, openssl]
    for c in contenders:
        c.between(sealed if c.name.startswith("open ") else plain, ["cat"])
    take_turns(contenders, fixture.runs(5), fixture.deadline.at_most(55))
    fixture.results.compare("pipe", words_of(size), contenders, size, fastest(copies), openssl)
